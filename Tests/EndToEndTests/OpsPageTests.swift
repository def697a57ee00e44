import Foundation
import HTTPClient
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  /// The operators' page in a real browser, over real queues.
  ///
  /// With `LOCKSTEP_SCREENSHOTS=DIR` pictures are kept there, to be looked at.
  @Suite struct OpsPageTests {
    private static let token = String(repeating: "ab", count: 40)
    private let installation: Installation

    init() throws {
      installation = try Installation()
      installation.settings["LOCKSTEP_AMQP_MANAGEMENT_URL"] =
        ProcessInfo.processInfo.environment["LOCKSTEP_TEST_AMQP_MANAGEMENT_URL"]
      try installation.applyTopology()
    }

    private var url: String { "\(installation.adminURL(of: .ops))/ops" }

    private func bury(_ id: String, _ error: String, filling: Int = 0) throws {
      let host = installation.broker.virtualHost
      try installation.broker.manage(
        "POST", "/api/exchanges/\(host)/dead/publish",
        #"""
        {"routing_key": "apns", "payload_encoding": "string",
         "payload": "{\"aps\":{},\"x\":\"\#(String(repeating: "x", count: filling))\"}",
         "properties": {"message_id": "\#(id)", "type": "push.update", "delivery_mode": 2,
          "headers": {"x-token": "\#(Self.token)", "x-attempt": 7, "x-origin-queue": "apns",
           "x-last-error": "\#(error)", "x-first-failed-at": 1781787600000}}}
        """#)
    }

    private func deadLetters() throws -> JSONValue {
      try JSONValue(parsing: installation.client.send("GET", "\(url)/dead").body)
    }

    /// A page that remembers what its own rules forbade, and every error.
    private func open(_ chromium: Chromium, width: Int64 = 1280, height: Int64 = 1400) throws
      -> ChromiumTarget
    {
      try ChromiumTarget.page(
        chromium, url: url,
        script: """
          window.trouble = [];
          document.addEventListener("securitypolicyviolation",
            (e) => trouble.push(e.violatedDirective));
          window.addEventListener("error", (e) => trouble.push(String(e.message)));
          window.addEventListener("unhandledrejection", (e) => trouble.push(String(e.reason)));
          """, width: width, height: height)
    }

    private func keep(_ page: ChromiumTarget, _ name: String) throws {
      guard let folder = ProcessInfo.processInfo.environment["LOCKSTEP_SCREENSHOTS"] else { return }
      try page.screenshot().write(to: URL(filePath: folder).appending(path: "ops-\(name).png"))
    }

    private func press(_ key: String, _ code: Int64, on page: ChromiumTarget) throws {
      for type in ["keyDown", "keyUp"] {
        try page.command(
          "Input.dispatchKeyEvent",
          [
            "type": .string(type), "key": .string(key), "code": .string(key),
            "windowsVirtualKeyCode": .integer(code), "text": key == "Enter" ? "\r" : "",
          ])
      }
    }

    @Test func `Dead letters are read and sent back by keyboard alone, and nothing else is done`()
      throws
    {
      for number in 1...3 { try bury("job-\(number)", "503 busy, after \(number) attempts") }
      try bury("odd", "<img src=x onerror=trouble.push(1)> is odd")
      try installation.start(.ops)
      let chromium = try Chromium()
      let page = try open(chromium)
      let counts = "[...document.querySelectorAll('.count')].map((n) => n.textContent)"
      #expect(page.becomes(counts, ["3", "1"]))
      #expect(page.becomes("document.querySelectorAll('.card').length", 7))
      #expect(page.becomes("document.querySelectorAll('svg.plot').length", 7))
      #expect(try page.value("document.querySelectorAll('img').length") == 0)
      let whole = "document.documentElement.outerHTML.includes('\(Self.token)')"
      #expect(try page.value(whole) == false, "no whole token")
      // Every control is reached with Tab, has a name, and shows that it has the focus.
      var names: Set<String> = []
      for _ in 0..<20 {
        try press("Tab", 9, on: page)
        let name = try page.value(
          "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
            + " || document.activeElement.labels?.[0]?.textContent || ''")
        if let name = name.text { names.insert(name.trimmingCharacters(in: .whitespaces)) }
      }
      let reason = "503 busy, after N attempts"
      for name in [
        "Queues", "Look again", "Look 3 of apns: \(reason)", "Send back … 3 of apns: \(reason)",
        "Session", "Person", "Explain",
      ] { #expect(names.contains(name), "\(name) among \(names.sorted())") }
      let first = "document.querySelector('.group button')"
      _ = try page.value("\(first).focus()")
      try press("Enter", 13, on: page)
      #expect(page.becomes("document.querySelector('.shown').hidden", false))
      #expect(
        page.becomes("document.querySelector('.shown pre').textContent.includes('job-1')", true))
      _ = try page.value("document.querySelectorAll('.group button')[1].focus()")
      try press("Enter", 13, on: page)
      #expect(page.becomes("document.getElementById('confirm').open", true))
      try keep(page, "confirm")
      // A press on the first of its buttons leaves everything as it is.
      #expect(page.becomes("document.activeElement.id", "no"))
      try press("Enter", 13, on: page)
      #expect(page.becomes("document.getElementById('confirm').open", false))
      #expect(try deadLetters()["groups"]?.elements.count == 2)
      _ = try page.value("document.querySelectorAll('.group button')[1].focus()")
      try press("Enter", 13, on: page)
      #expect(page.becomes("document.activeElement.id", "no"))
      try press("Tab", 9, on: page)
      try press("Enter", 13, on: page)
      #expect(page.becomes("document.getElementById('dead-said').textContent", "3 went back."))
      #expect(page.becomes(counts, ["1"]))
      #expect(try installation.messages(in: "apns").count == 3)
      #expect(try page.value("window.trouble") == [])
    }

    @Test func `A letter of any length is shown as far as a page can show it`() throws {
      try bury("long", "too long", filling: 300_000)
      try installation.start(.ops)
      let shown = try deadLetters()["groups"]?.elements.first?["shown"]?.elements.first?["text"]
      let text = try #require(shown?.text)
      #expect(text.utf8.count < 20_000)
      #expect(text.contains("too long"))
      #expect(text.hasSuffix("…\nlockstep dead show has the rest"))
    }

    @Test func `No other site can look or send back`() throws {
      try bury("job-1", "busy")
      try installation.start(.ops)
      let send = { (headers: [String: String], method: String, path: String) in
        try installation.client.send(
          method, url + path, headers: headers,
          body: method == "POST" ? Data(#"{"stage":"apns","reason":"busy"}"#.utf8) : nil
        ).status
      }
      let ours = url.dropLast("/ops".count)
      #expect(try send([:], "POST", "/dead/replay") == 403)
      #expect(try send(["content-type": "text/plain"], "POST", "/dead/replay") == 403)
      let guarded = ["x-lockstep-ops": "1", "content-type": "application/json"]
      for foreign in ["https://evil.example", "null", "http://127.0.0.1:1"] {
        #expect(
          try send(guarded.merging(["origin": foreign]) { $1 }, "POST", "/dead/replay") == 403)
      }
      for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.x"] {
        for path in ["", "/state", "/dead"] {
          #expect(try send(["host": host], "GET", path) == 403, "\(host)")
        }
        #expect(try send(guarded.merging(["host": host]) { $1 }, "POST", "/dead/replay") == 403)
      }
      #expect(try send(guarded, "GET", "/dead/replay") == 404)
      #expect(try send(["x-lockstep-ops": "1"], "GET", "/nothing") == 404)
      #expect(try deadLetters()["groups"]?.elements.first?["count"] == 1)
      let policy = try installation.client.send("GET", url).headers["content-security-policy"]
      #expect(policy?.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'") == true)
      #expect(policy?.contains("unsafe") == false)
      #expect(
        try send(guarded.merging(["origin": String(ours)]) { $1 }, "POST", "/dead/replay") == 200)
      #expect(try deadLetters()["groups"]?.elements.isEmpty == true)
    }

    @Test func `A played session is explained, the queues and lanes are shown as they are`() throws
    {
      try installation.start(.simulator)
      try installation.start(.run)
      installation.settings["LOCKSTEP_OPS_SENDERS"] =
        "127.0.0.1:\(installation.port(of: .run)),127.0.0.1:1"
      try installation.start(.ops)
      for user in CookSession.people { try installation.phones.add(user) }
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try session.playToProposals()
      try installation.phones.awaitTruth(cards: 2)
      let chromium = try Chromium()
      let page = try open(chromium)
      #expect(page.becomes("document.getElementById('freshness').textContent", "live"))
      // Nobody reads the kitchen's queue here; Web Push is switched off, and nobody misses it.
      let troubled = "[...document.querySelectorAll('.verdict b')].map((n) => n.textContent)"
      #expect(page.becomes(troubled, ["kitchen"]))
      #expect(
        page.becomes(
          "document.getElementById('lane-list').textContent.includes('127.0.0.1:1: ')", true))
      _ = try page.value("document.getElementById('session').focus()")
      try page.command("Input.insertText", ["text": .string(session.id)])
      try press("Enter", 13, on: page)
      #expect(page.becomes("document.querySelectorAll('.story').length", 2))
      let story = try page.value("document.getElementById('story').textContent").text ?? ""
      #expect(story.contains(session.id) && story.contains("dennis"))
      #expect(try page.value("document.querySelectorAll('.story .good').length").whole ?? 0 > 0)
      _ = try page.value("document.getElementById('session').value = 'cs_nobody'")
      try press("Enter", 13, on: page)
      #expect(
        page.becomes(
          "document.getElementById('story').textContent",
          "nothing is known of session cs_nobody: it never was here, or its records are old"))
      #expect(try page.value("window.trouble") == [])
      try look(page, session)
    }

    /// Light and dark, wide and narrow: nothing is cut off, and every text can be read.
    private func look(_ page: ChromiumTarget, _ session: CookSession) throws {
      try bury("job-1", "503 busy, after 4 attempts")
      // Published is not in the queue yet, and the page looks once.
      try installation.wait(for: "the dead letter") {
        try deadLetters()["groups"]?.elements.count == 1
      }
      _ = try page.value("document.getElementById('look').click()")
      #expect(page.becomes("document.querySelectorAll('.group').length", 1))
      _ = try page.value("document.getElementById('session').value = '\(session.id)'")
      _ = try page.value("document.getElementById('ask').requestSubmit()")
      #expect(page.becomes("document.querySelectorAll('.story').length", 2))
      for scheme in ["light", "dark"] {
        try page.command(
          "Emulation.setEmulatedMedia",
          ["features": [["name": "prefers-color-scheme", "value": .string(scheme)]]])
        for (name, width) in [("wide", Int64(1280)), ("narrow", 390)] {
          try page.command(
            "Emulation.setDeviceMetricsOverride",
            [
              "width": .integer(width), "height": 2400, "deviceScaleFactor": 1, "mobile": false,
            ])
          #expect(
            page.becomes("document.documentElement.scrollWidth <= innerWidth", true),
            "\(name): it does not fit")
          try keep(page, "\(scheme)-\(name)")
        }
        #expect(try page.value(Self.faintest).double ?? 0 >= 4.5, "\(scheme)")
      }
    }

    /// The least contrast (WCAG 2) between a text and what is behind it.
    private static let faintest = """
      (() => {
        const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
        const light = (c) => { const v = c.slice(0, 3).map((x) => { x /= 255;
          return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
          return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
        const behind = (node) => { for (let n = node; n; n = n.parentElement) {
          const c = parse(getComputedStyle(n).backgroundColor);
          if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
        let least = 21;
        for (const node of document.querySelectorAll('body *')) {
          const own = [...node.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
          if (!own || node.disabled || node.offsetParent === null) continue;
          const [a, b] = [light(parse(getComputedStyle(node).color)), light(behind(node))];
          least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
        }
        return least;
      })()
      """
  }
}

extension JSONValue {
  fileprivate var double: Double? {
    switch self {
    case .number(let number): number
    case .integer(let whole): Double(whole)
    default: nil
    }
  }
}
