import Cryptography
import Foundation
import HTTPClient
import Pushes
import Simulator
import TestSupport
import Testing
import Vocabulary

/// The web app in a real browser, with real `push` events: what the stand-in for a push service
/// decrypted is handed to Chromium's own service worker.
///
/// With `LOCKSTEP_SCREENSHOTS=DIR` pictures are kept there, to be looked at.
@Suite(.serialized) struct WebAppInChromiumTests {
  /// A page of the web app, its worker, and a subscription that the stand-in made for it.
  private final class Opened {
    let running: RunningSimulator
    let subscription: NewBrowser
    let chromium: Chromium
    let page: ChromiumTarget

    init(grants: Bool = true) throws {
      running = try RunningSimulator()
      subscription = try running.addBrowser("jaqueline")
      chromium = try Chromium()
      let permission = JSONValue.string(grants ? "granted" : "denied")
      try chromium.command(
        "Browser.setPermission",
        [
          "permission": ["name": "notifications"], "setting": permission,
          "origin": .string(running.control),
        ])
      running.api.tell(Self.answers(resolved: false))
      let token = JSONWebToken.signed(
        claims: ["sub": "jaqueline"], with: Making.key, keyID: nil)
      page = try ChromiumTarget.page(
        chromium, url: "\(running.control)/app/#token=\(token)",
        script: Self.subscribing(as: subscription.subscription))
      try page.command("Log.enable")
      try page.command("ServiceWorker.enable")
    }

    /// A headless Chromium reaches no push service; everything else of subscribing is real.
    private static func subscribing(as subscription: JSONValue) -> String {
      let json = String(decoding: subscription.encoded, as: UTF8.self)
      return """
        window.heard = 0;
        navigator.serviceWorker.addEventListener("message", () => { window.heard += 1; });
        PushManager.prototype.subscribe = async function (options) {
          window.asked = { visible: options.userVisibleOnly,
            key: [...new Uint8Array(options.applicationServerKey)] };
          return { toJSON: () => (\(json)), unsubscribe: async () => true };
        };
        """
    }

    /// One answer for everything the page asks.
    static func answers(resolved: Bool) -> JSONValue {
      [
        "public_key": .string(Pushing.key.id), "id": "cs_abc", "date": "2026-06-18",
        "status_label": resolved ? "Planung beendet" : "Dennis füllt aus",
        "ended": resolved ? true : nil,
        "participants": [
          ["user_id": "dennis", "name": "Dennis", "emoji": "🐢", "status": "joined"],
          ["user_id": "jaqueline", "name": "Jaqueline", "emoji": "🐠", "status": "invited"],
        ],
        "notifications": [
          [
            "id": "n1", "type": "cooksuggest.invitation", "title": "Plan mit Dennis das Essen",
            "body": "Tippe, um mitzuplanen", "icon": "✨", "link": "/cook-suggest/cs_abc",
            "dedupe_key": .string(Pushing.dedupeKey), "resolved": resolved ? 1 : 0,
            "resolved_reason": resolved ? "ttl" : nil, "created_at": "2026-06-18T12:00:00Z",
            "seen_at": nil, "read_at": nil,
          ]
        ], "next": nil,
      ]
    }

    func text(_ id: String) -> String { "document.getElementById('\(id)').textContent" }

    /// Presses "turn notifications on", and waits until it is done.
    func turnOn() throws {
      #expect(page.becomes("document.getElementById('subscribe').hidden", false))
      #expect(page.becomes(text("status"), ""))
      #expect(page.becomes("navigator.serviceWorker.controller !== null", true))
      _ = try page.value("document.getElementById('subscribe').click()")
      #expect(page.becomes(text("status"), "Mitteilungen sind an."))
    }

    /// Hands the worker a `push` event, and waits until it says that it has shown it: looking for
    /// a notification that is just being shown makes Chromium forget it.
    func push(_ text: String) throws {
      let updated = try chromium.event("ServiceWorker.workerRegistrationUpdated") { event in
        guard case .array(let all)? = event.params["registrations"] else { return false }
        return !all.isEmpty
      }
      guard case .array(let all)? = updated.params["registrations"],
        let registration = all.first?["registrationId"]
      else { throw Chromium.Trouble(description: "no registration") }
      guard case .integer(let heard) = try page.value("window.heard") else {
        throw Chromium.Trouble(description: "the page counts nothing")
      }
      try page.command(
        "ServiceWorker.deliverPushMessage",
        [
          "origin": .string(running.control), "registrationId": registration,
          "data": .string(text),
        ])
      #expect(page.becomes("window.heard", .integer(heard + 1)))
    }

    /// What the service decrypted last, as the browser would get it.
    func decrypted() throws -> String {
      let view = try running.call("GET", "/browsers/\(subscription.id)").1
      guard case .array(let shown)? = view["notifications"], let payload = shown.first?["payload"]
      else { throw Chromium.Trouble(description: "nothing was decrypted: \(view)") }
      return String(decoding: payload.encoded, as: UTF8.self)
    }

    /// The worker's own place of running.
    func worker() throws -> ChromiumTarget {
      let all = try chromium.command("Target.getTargets")
      guard case .array(let targets)? = all["targetInfos"],
        let worker = targets.first(where: { $0["type"] == "service_worker" })
      else { throw Chromium.Trouble(description: "no worker among \(all)") }
      return try ChromiumTarget(chromium, id: worker["targetId"] ?? .null)
    }

    /// Clicks the newest notification, as far as a browser without a screen lets one: the worker's
    /// real handler runs, on an event that was not born of a finger.
    func click(before: String = "") throws -> JSONValue {
      try worker().value(
        """
        (async () => {
          \(before)
          const [notification] = await registration.getNotifications();
          const event = new NotificationEvent("notificationclick", { notification });
          let done;
          Object.defineProperty(event, "waitUntil", { value: (promise) => { done = promise; } });
          dispatchEvent(event);
          await done;
          return (await registration.getNotifications()).length;
        })()
        """)
    }

    static let shown = """
      navigator.serviceWorker.ready.then((ready) => ready.getNotifications()).then((all) =>
        all.map((one) => [one.title, one.body, one.tag, one.lang, one.icon, one.data?.navigate]))
      """

    var errors: [String] {
      chromium.events.filter {
        $0.method == "Log.entryAdded" && $0.params["entry"]?["level"] == "error"
      }.map { String(decoding: $0.params.encoded, as: UTF8.self) }
    }

    func keepScreenshot(_ name: String, of target: ChromiumTarget? = nil) throws {
      guard let place = ProcessInfo.processInfo.environment["LOCKSTEP_SCREENSHOTS"] else { return }
      try (target ?? page).screenshot().write(to: URL(fileURLWithPath: "\(place)/\(name).png"))
    }
  }

  @Test func `a page subscribes with the server's key and tells the server`() throws {
    let opened = try Opened()
    #expect(opened.page.becomes(opened.text("welcome-title"), "Gemeinsam Essen planen"))
    // The token is nowhere to be seen.
    #expect(opened.page.becomes("location.href", .string("\(opened.running.control)/app/")))
    try opened.keepScreenshot("1-before")
    try opened.turnOn()
    let key = try #require(Base64URL.decode(Pushing.key.id))
    #expect(
      try opened.page.value("window.asked")
        == ["visible": true, "key": .array(key.map { .integer(Int64($0)) })])
    let call = opened.running.api.calls.last
    #expect(call?.path == "/api/webpush/subscriptions")
    #expect(call?.body == opened.subscription.subscription)
    #expect(call?.caller.hasPrefix("Bearer ey") == true)
    #expect(opened.errors == [])
    try opened.keepScreenshot("2-subscribed")
  }

  @Test func `a push is shown with icon and link, and a click leads there`() throws {
    let opened = try Opened()
    try opened.turnOn()
    let answer = try opened.running.webPush(
      Pushing.payload(origin: opened.running.control), to: opened.subscription)
    #expect(answer.status == 201)
    try opened.push(opened.decrypted())
    let link = "\(opened.running.control)/cook-suggest/cs_abc"
    #expect(
      opened.page.becomes(
        Opened.shown,
        [
          [
            "Plan mit Dennis das Essen", "Tippe, um mitzuplanen", .string(Pushing.dedupeKey), "de",
            .string("\(opened.running.control)/icons/notification.png"), .string(link),
          ]
        ]))
    #expect(opened.page.becomes(opened.text("badge"), "1"))
    // The same again, as after a lost answer: one tag, one notification.
    try opened.push(opened.decrypted())
    #expect(opened.page.becomes("\(Opened.shown).then((all) => all.length)", 1))
    try opened.keepScreenshot("3-pushed")
    #expect(try opened.click() == 0)
    #expect(opened.page.becomes("location.href", .string(link)))
    #expect(opened.page.becomes(opened.text("session-label"), "Dennis füllt aus"))
    #expect(opened.page.becomes("document.getElementById('join').hidden", false))
    try opened.keepScreenshot("4-session")
    #expect(opened.errors == [])
  }

  @Test func `without a page a click opens one`() throws {
    let opened = try Opened()
    try opened.turnOn()
    try opened.push(
      """
      {"web_push": 8030, "notification": {"title": "a",
        "navigate": "https://app.example/cook-suggest/cs_abc"}}
      """)
    #expect(opened.page.becomes("\(Opened.shown).then((all) => all.length)", 1))
    _ = try opened.click(
      before: """
        Object.defineProperty(clients, "openWindow", { value: async (url) => { self.opened = url; } });
        """)
    #expect(
      try opened.worker().value("self.opened") == "https://app.example/cook-suggest/cs_abc")
  }

  @Test(arguments: ["not JSON", "{\"web_push\": 8030}", "{\"notification\": {\"title\": \"a\"}}"])
  func `a push that cannot be read still shows something`(text: String) throws {
    let opened = try Opened()
    try opened.turnOn()
    try opened.push(text)
    #expect(
      opened.page.becomes("\(Opened.shown).then((all) => all[0]?.[0])", "Was koch ich draus?"))
  }

  @Test func `a resolved invitation turns grey and its notification goes`() throws {
    let opened = try Opened()
    try opened.turnOn()
    try opened.push(
      String(decoding: Pushing.payload(origin: opened.running.control), as: UTF8.self))
    #expect(opened.page.becomes(opened.text("badge"), "1"))
    #expect(opened.page.becomes("\(Opened.shown).then((all) => all.length)", 1))
    #expect(try opened.page.value("document.querySelectorAll('#entries .unread').length") == 1)
    _ = try opened.page.value("document.getElementById('bell').click()")
    #expect(opened.page.becomes("document.getElementById('inbox').hidden", false))
    #expect(
      becomesTrue { opened.running.api.calls.contains { $0.path == "/api/notifications/n1/seen" } })
    try opened.keepScreenshot("5-bell")
    let colour = "getComputedStyle(document.querySelector('#entries li b')).color"
    let before = try opened.page.value(colour)
    opened.running.api.tell(Opened.answers(resolved: true))
    #expect(opened.page.becomes("document.querySelector('#entries li').className", "resolved"))
    #expect(opened.page.becomes("document.getElementById('badge').hidden", true))
    #expect(opened.page.becomes("\(Opened.shown).then((all) => all.length)", 0))
    #expect(
      try opened.page.value("document.querySelector('#entries small').textContent.split(' · ')[1]")
        == "abgelaufen")
    #expect(try opened.page.value(colour) != before)
    try opened.keepScreenshot("6-grey")
    #expect(opened.errors == [])
  }

  @Test func `a browser that may show nothing says so`() throws {
    let opened = try Opened(grants: false)
    #expect(
      opened.page.becomes("\(opened.text("status")).startsWith('Dieser Browser darf keine')", true))
    try opened.keepScreenshot("7-denied")
  }

  @Test func `the simulator's page shows phones and browsers with their bells`() throws {
    let opened = try Opened()
    let order: JSONValue = [
      "id": "jaqueline", "user_id": "jaqueline", "name": "Jaqueline", "token": "jwt", "bell": true,
    ]
    #expect(try opened.running.call("POST", "/phones", order).0 == 201)
    let phone = try #require(opened.running.phone("jaqueline"))
    let alert: JSONValue = [
      "aps": [
        "alert": ["title": "Plan mit Dennis das Essen", "body": "Tippe, um mitzuplanen"],
        "sound": "default",
      ], "link": "/cook-suggest/cs_abc", "dedupe_key": .string(Pushing.dedupeKey),
    ]
    let headers: [String: String?] = [
      "apns-push-type": "alert", "apns-topic": Making.bundle,
      "apns-collapse-id": Pushing.dedupeKey,
    ]
    #expect(
      try opened.running.push(alert, to: phone.identity.alertToken, headers).status == 200)
    #expect(try opened.running.webPush(Pushing.payload(), to: opened.subscription).status == 201)
    let page = try ChromiumTarget.page(
      opened.chromium, url: "\(opened.running.control)/", width: 1280, height: 1000)
    #expect(
      page.becomes(
        "document.querySelector('.phone .banner b')?.textContent",
        "Plan mit Dennis das Essen"))
    #expect(page.becomes("document.querySelector('.phone .banner .note')?.textContent", "♪"))
    #expect(page.becomes("document.querySelector('.phone .face i')?.textContent", "1"))
    #expect(
      page.becomes(
        "document.querySelector('.browser .toast b')?.textContent",
        "Plan mit Dennis das Essen"))
    try opened.keepScreenshot("8-simulator", of: page)
    opened.running.api.tell(Opened.answers(resolved: true))
    #expect(page.becomes("document.querySelector('.phone .bell li')?.className", "over"))
    #expect(page.becomes("document.querySelector('.phone .face i') === null", true))
    try opened.keepScreenshot("9-simulator-grey", of: page)
  }
}
