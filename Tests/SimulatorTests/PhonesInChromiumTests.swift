import Activities
import Foundation
import HTTPClient
import Simulator
import TestSupport
import Testing
import Vocabulary

/// How the page draws Android phones, and cards of any app, in a real browser.
///
/// With `LOCKSTEP_SCREENSHOTS=DIR` pictures are kept there, to be looked at.
@Suite(.serialized) struct PhonesInChromiumTests {
  private static let cook = Making.json(Making.attributes())
  private static let shiny = "ShinyActivityAttributes"

  private static func state(_ rev: Int, _ state: String = "answering") -> JSONValue {
    Making.json(Making.state(rev, state))
  }

  private func open(_ chromium: Chromium, _ running: RunningSimulator, width: Int64 = 1280) throws
    -> ChromiumTarget
  {
    try ChromiumTarget.page(
      chromium, url: "\(running.control)/",
      script: """
        window.trouble = [];
        document.addEventListener("securitypolicyviolation",
          (e) => trouble.push(e.violatedDirective));
        window.addEventListener("error", (e) => trouble.push(String(e.message)));
        window.addEventListener("unhandledrejection", (e) => trouble.push(String(e.reason)));
        """, width: width, height: 1500)
  }

  private func keep(_ page: ChromiumTarget, _ name: String) throws {
    guard let folder = ProcessInfo.processInfo.environment["LOCKSTEP_SCREENSHOTS"] else { return }
    try page.screenshot().write(to: URL(filePath: folder).appending(path: "\(name).png"))
  }

  /// In both schemes nothing runs over its box, and every text of a notification can be read.
  private func look(_ page: ChromiumTarget, _ name: String) throws {
    for scheme in ["light", "dark"] {
      try page.command(
        "Emulation.setEmulatedMedia",
        [
          "features": [
            ["name": "prefers-color-scheme", "value": .string(scheme)],
            ["name": "prefers-reduced-motion", "value": "reduce"],
          ]
        ])
      #expect(try page.value(Self.faintest) == [], "\(scheme)")
      #expect(try page.value(Self.overflowing) == [], "\(scheme)")
      try keep(page, "\(name)-\(scheme)")
    }
  }

  /// Texts of live notifications with a contrast below 4.5 to 1 (WCAG 2.2, 1.4.3).
  private static let faintest = """
    (() => {
      const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const light = (colour) => {
        paint.fillStyle = colour;
        paint.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => {
          const share = part / 255;
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const faint = [];
      for (const one of document.querySelectorAll(".notification:not(.dismissed)")) {
        const ground = light(getComputedStyle(one).backgroundColor);
        for (const part of one.querySelectorAll("b, p, .app, time, .tail span")) {
          const ink = light(getComputedStyle(part).color);
          const ratio = (Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05);
          if (ratio < 4.5) faint.push(`${part.textContent}: ${ratio.toFixed(1)}`);
        }
      }
      return faint;
    })()
    """

  private static let overflowing = """
    [...document.querySelectorAll(".notification, .card, .tools")]
      .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)
    """

  private func texts(_ selector: String) -> String {
    "[...document.querySelectorAll('\(selector)')].map((one) => one.textContent)"
  }

  // MARK: Android phones

  @Test func `Android phones stand beside iPhones and browsers with their notifications`() throws {
    let messages = try AndroidMessages()
    let running = messages.running
    _ = try running.addPhone("dennis")
    for (user, id) in [("jaqueline", "pixel"), ("mara", "fairphone"), ("noor", "gone")] {
      try messages.add(user, id: id)
    }
    let (pixel, fairphone) = try (messages.token(of: "pixel"), messages.token(of: "fairphone"))
    try messages.send(3, attributes: Self.cook, state: Self.state(3, "proposed"), to: pixel)
    try messages.send(
      2, kind: Self.shiny, key: "activity:order-1:jaqueline",
      attributes: ["kind": "Lieferung", "values": ["order": "1"]],
      state: [
        "title": "Unterwegs", "body": "Zwei Stationen vor dir", "shortStatus": "5 min",
        "progress": .number(0.65), "data": [:],
      ], to: pixel)
    try messages.send(1, attributes: Self.cook, state: Self.state(1), to: fairphone)
    #expect(try running.call("POST", "/androids/fairphone/offline").0 == 200)
    try messages.send(2, attributes: Self.cook, state: Self.state(2), to: fairphone)
    #expect(try running.call("POST", "/androids/gone/uninstall").0 == 200)

    let chromium = try Chromium()
    let page = try open(chromium, running)
    #expect(page.becomes("document.querySelectorAll('.android').length", 3))
    #expect(
      page.becomes(
        texts("[aria-label=\"Android phone of Jaqueline\"] .notification b"),
        [
          "Unterwegs", "Mara füllt aus",
        ]))
    #expect(
      try page.value(texts(".notification .tail span")) == [
        "angezeigt", "rev 2", "angezeigt", "rev 3", "angezeigt · offline", "rev 1",
      ])
    #expect(try page.value(texts(".notification p")).elementTexts.first == "Zwei Stationen vor dir")
    #expect(
      try page.value("document.querySelector('.notification progress').value") == .number(0.65))
    #expect(try page.value(texts(".signs .chip")) == ["5 min"])
    #expect(
      try page.value(texts(".android h2 small")) == [
        "Android · pixel", "offline, one message waits at FCM", "app uninstalled",
      ])
    #expect(
      try page.value(
        "[...document.getElementById('phones').children].map((one) => one.className)")
        == ["phone", "android", "android offline", "android gone"])
    #expect(
      page.becomes("document.getElementById('figures').textContent.startsWith('4 phones')", true))
    try look(page, "android")

    // What is done on the page is done on the phone.
    _ = try page.value(
      "document.querySelector(\"[aria-label^='Dismiss the notifications of Jaqueline']\").click()")
    #expect(
      page.becomes(texts(".notification.dismissed .standing"), ["weggewischt", "weggewischt"]))
    _ = try page.value("document.querySelector('[aria-label^=\"Let Mara\"]').click()")
    #expect(page.becomes(texts(".android.offline h2"), []))
    #expect(
      page.becomes(texts(".notification:not(.dismissed) .tail span"), ["angezeigt", "rev 2"]))
    try messages.send(
      3, event: "end", attributes: Self.cook, state: Self.state(3, "decided"), to: fairphone)
    #expect(page.becomes(texts(".notification.ended .tail span"), ["beendet", "rev 3"]))
    try look(page, "android-over")
    #expect(try page.value("window.trouble") == [])
  }

  // MARK: Cards of any app

  private func start(
    _ type: String, _ attributes: JSONValue, _ state: JSONValue, on phone: NewPhone,
    of running: RunningSimulator
  ) throws {
    let body: JSONValue = [
      "aps": [
        "event": "start", "timestamp": .integer(Making.now.seconds), "content-state": state,
        "attributes-type": .string(type), "attributes": attributes, "input-push-token": 1,
        "alert": ["title": "Los", "body": "geht es"],
        "stale-date": .integer(Making.now.seconds + 600),
      ]
    ]
    try #require(try running.push(body, to: phone.pushToStartToken).status == 200)
  }

  private static func declared(_ name: String) throws -> DeclaredContract {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "deploy/contracts")
    let file = folder.appending(path: "\(name).json")
    return try DeclaredContract(reading: JSONValue(parsing: Data(contentsOf: file)))
  }

  @Test func `a card of any app shows its texts, its progress, and whatever else it holds`() throws
  {
    let contracts = try ContractCatalog(declared: [Self.declared("shopping")])
    let running = try RunningSimulator { $0.contracts = contracts }
    func phone(_ user: String, _ type: String) throws -> NewPhone {
      var order = PhoneOrder(userID: UserID(user), name: user.capitalized, token: "jwt")
      order.attributesType = type
      return try running.simulator.add(order)
    }
    let attributes: JSONValue = ["kind": "Lieferung", "values": ["order": "1"]]
    let now = Date().timeIntervalSinceReferenceDate
    try start(
      Self.shiny, attributes,
      [
        "title": "Unterwegs", "body": "Zwei Stationen vor dir", "shortStatus": "5 min",
        "progressStart": .number(now - 60), "progressEnd": .number(now + 60),
        "data": ["orderId": "A-1234"],
      ], on: phone("sina", Self.shiny), of: running)
    try start(
      Self.shiny, ["values": [:]],
      ["title": "Wird vorbereitet", "indeterminate": true, "data": [:]],
      on: phone("sam", Self.shiny), of: running)
    try start(
      "ShoppingActivityAttributes", ["listKey": "list-1", "listName": "Samstag"],
      [
        "headline": "Wochenmarkt", "done": 3, "total": 9, "rev": 4, "next": [["name": "Fenchel"]],
        "changedAt": .number(now),
      ], on: phone("mia", "ShoppingActivityAttributes"), of: running)

    let chromium = try Chromium()
    let page = try open(chromium, running)
    #expect(page.becomes(texts(".card .label"), ["Unterwegs", "Wird vorbereitet", "Wochenmarkt"]))
    #expect(try page.value(texts(".card .app")) == ["Lieferung", "Shiny", "Shopping"])
    #expect(try page.value(texts(".card .chip")) == ["5 min"])
    #expect(try page.value(texts(".card .sub")).elementTexts.first == "Zwei Stationen vor dir")
    #expect(
      try page.value("document.querySelector('.card .rest').textContent.includes('A-1234')")
        == true)
    let bars = "[...document.querySelectorAll('.card progress')]"
    #expect(try page.value("\(bars).map((one) => one.position < 0)") == [false, true, false])
    #expect(try page.value("\(bars)[2].value.toFixed(2)") == "0.33")
    // A range of dates goes on without any push.
    _ = try page.value("window.before = \(bars)[0].value")
    #expect(try page.value("window.before > 0.4 && window.before < 0.8") == true)
    #expect(page.becomes("\(bars)[0].value > window.before", true))
    try look(page, "cards")
    #expect(try page.value("window.trouble") == [])
  }
}

extension JSONValue {
  fileprivate var elementTexts: [String] {
    guard case .array(let elements) = self else { return [] }
    return elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }
}
