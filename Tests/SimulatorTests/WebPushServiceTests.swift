import Cryptography
import Foundation
import HTTPClient
import Pushes
import Simulator
import TestSupport
import Testing
import Vocabulary

/// Over a real connection: HTTP/2 and TLS to the stand-in for a push service.
@Suite struct WebPushServiceTests {
  @Test func `a browser subscribes as a page would`() throws {
    let running = try RunningSimulator()
    let browser = try running.addBrowser("jaqueline")
    let call = running.api.calls.last
    #expect(call?.path == "/api/webpush/subscriptions")
    #expect(call?.caller == "Bearer jwt-jaqueline")
    #expect(call?.body == browser.subscription)
    guard case .string(let endpoint)? = browser.subscription["endpoint"] else {
      Issue.record("no endpoint in \(browser)")
      return
    }
    let services = try PushServices(list: "localhost:\(running.simulator.webPushPort)")
    #expect(throws: Never.self) { try services.check(PushEndpoint(endpoint)) }
  }

  @Test func `without a server's key there is no subscription`() throws {
    let running = try RunningSimulator()
    running.api.tell(["public_key": 7])
    #expect(throws: (any Error).self) {
      try running.simulator.add(BrowserOrder(userID: UserID("mara"), name: nil, token: "jwt"))
    }
    #expect(try running.call("GET", "/browsers").1 == [])
  }

  @Test func `an invitation is decrypted and shown`() throws {
    let running = try RunningSimulator()
    let browser = try running.addBrowser("jaqueline")
    let answer = try running.webPush(Pushing.payload(), to: browser)
    #expect(answer.status == 201)
    #expect(answer.headers["ttl"] == "600")
    #expect(answer.headers["location"]?.hasPrefix("/message/") == true)
    let (status, view) = try running.call("GET", "/browsers/\(browser.id)")
    #expect(status == 200)
    guard case .array(let shown)? = view["notifications"], let first = shown.first else {
      Issue.record("nothing is shown: \(view)")
      return
    }
    #expect(first["title"] == "Plan mit Dennis das Essen")
    #expect(first["navigate"] == "http://127.0.0.1:8181/cook-suggest/cs_abc")
    #expect(first["data_icon"] == "✨")
    #expect(first["payload"]?["web_push"] == 8030)
    #expect(first["ttl"] == 600)
    let verdict = running.simulator.verdict()
    #expect(verdict.ok, "\(verdict.complaints)")
    #expect(verdict.pushes == ["201": 1])
    #expect(verdict.webNotifications == 1)
  }

  struct Refused: CustomTestStringConvertible {
    let name: String
    let changes: @Sendable (String) -> [String: String?]
    let status: Int
    let reason: String
    var testDescription: String { name }

    init(
      _ name: String, _ status: Int, _ reason: String,
      _ changes: @escaping @Sendable (String) -> [String: String?]
    ) {
      self.name = name
      self.changes = changes
      self.status = status
      self.reason = reason
    }

    static func claim(_ name: String, _ changes: [String: JSONValue?]) -> Refused {
      Refused(name, 403, "BadJwtToken") {
        ["authorization": Pushing.authorization(origin: $0, changes)]
      }
    }
  }

  private static let other = VAPIDKey(.generate())

  @Test(arguments: [
    Refused("no TTL", 400, "MissingTtl") { _ in ["ttl": nil] },
    Refused("TTL with words", 400, "BadTtl") { _ in ["ttl": "600s"] },
    Refused("TTL below zero", 400, "BadTtl") { _ in ["ttl": "-1"] },
    Refused("unknown urgency", 400, "BadUrgency") { _ in ["urgency": "urgent"] },
    Refused("two urgencies", 400, "BadUrgency") { _ in ["urgency": "high, low"] },
    Refused("33 characters of topic", 400, "BadWebPushTopic") { _ in
      ["topic": String(repeating: "a", count: 33)]
    },
    Refused("topic of another alphabet", 400, "BadWebPushTopic") { _ in ["topic": "a+b/"] },
    Refused("topic that Apple cannot decode", 400, "BadWebPushTopic") { _ in
      ["topic": String(repeating: "a", count: 29)]
    },
    Refused("no encoding", 400, "BadEncryption") { _ in ["content-encoding": nil] },
    Refused("two encodings", 400, "BadEncryption") { _ in
      ["content-encoding": "aes128gcm, gzip"]
    },
    Refused("no token", 401, "MissingVapid") { _ in ["authorization": nil] },
    Refused("bearer", 401, "MissingVapid") { _ in ["authorization": "Bearer abc"] },
    Refused("another server's key", 400, "VapidPkHashMismatch") {
      ["authorization": Pushing.authorization(origin: $0, signedBy: other, as: other)]
    },
    Refused("another key's signature", 403, "BadJwtToken") {
      ["authorization": Pushing.authorization(origin: $0, signedBy: other)]
    },
    .claim("another origin", ["aud": "https://push.example.net"]),
    .claim("exp as text", ["exp": "1781784600"]),
    .claim("exp missing", ["exp": nil]),
    .claim("exp passed", ["exp": .integer(Making.now.seconds)]),
    .claim("exp too far", ["exp": .integer(Making.now.seconds + 86_401)]),
    .claim("sub missing", ["sub": nil]),
    .claim("sub at localhost", ["sub": "mailto:me@localhost"]),
    .claim("sub at .local", ["sub": "https://mac.local"]),
    .claim("sub in brackets", ["sub": "mailto:<me@app.example>"]),
  ])
  func `F-1 F-2 what a push service refuses is refused`(refused: Refused) throws {
    let running = try RunningSimulator()
    let browser = try running.addBrowser("jaqueline")
    let answer = try running.webPush(
      Pushing.payload(), to: browser, refused.changes(running.webPushOrigin))
    #expect(answer.status == refused.status)
    #expect(try JSONValue(parsing: answer.body)["reason"] == .string(refused.reason))
    #expect(running.browser(browser.id)?.counts.received == 0)
  }

  @Test(
    arguments: [
      ["ttl": "0"], ["topic": nil], ["topic": "aaaa"], ["urgency": nil], ["urgency": "very-low"],
    ] as [[String: String?]])
  func `what is just allowed passes`(changes: [String: String?]) throws {
    let running = try RunningSimulator()
    let browser = try running.addBrowser("jaqueline")
    #expect(try running.webPush(Pushing.payload(), to: browser, changes).status == 201)
  }

  @Test func `exp a day ahead is the last that passes`() throws {
    let running = try RunningSimulator()
    let browser = try running.addBrowser("jaqueline")
    let token = Pushing.authorization(
      origin: running.webPushOrigin, ["exp": .integer(Making.now.seconds + 86_400)])
    #expect(
      try running.webPush(Pushing.payload(), to: browser, ["authorization": token]).status == 201)
  }

  @Test func `4096 octets pass and 4097 do not`() throws {
    let running = try RunningSimulator()
    let browser = try running.addBrowser("jaqueline")
    let filled = try Pushing.body(
      Data(repeating: 32, count: WebPushEncryption.plaintextBytesMax), for: browser.subscription)
    #expect(filled.count == 4096)
    #expect(try running.webPush(Data(), to: browser, body: filled).status == 201)
    #expect(try running.webPush(Data(), to: browser, body: filled + [0]).status == 413)
  }

  @Test func `a subscription that never was is 404, one given back is 410`() throws {
    let running = try RunningSimulator()
    let browser = try running.addBrowser("jaqueline")
    let unknown = try HTTPClient(caFile: running.simulator.authorityFile).send(
      "POST", "\(running.webPushOrigin)/push/abc",
      headers: Pushing.headers(origin: running.webPushOrigin), body: Data([1]))
    #expect(unknown.status == 404)
    #expect(try running.call("POST", "/browsers/\(browser.id)/unsubscribe").0 == 200)
    #expect(try running.webPush(Pushing.payload(), to: browser).status == 410)
    #expect(try running.webPush(Pushing.payload(), to: browser, method: "GET").status == 410)
  }

  struct Complained: CustomTestStringConvertible {
    let rule: Finding.Rule
    let payload: JSONValue
    var changes: [String: String?] = [:]
    var testDescription: String { "\(rule.rawValue): \(payload)" }
  }

  private static let good: JSONValue = [
    "web_push": 8030, "notification": ["title": "a", "navigate": "https://app.example/"],
  ]

  @Test(arguments: [
    Complained(rule: .declarative, payload: "words"),
    Complained(rule: .declarative, payload: ["notification": ["title": "a"]]),
    Complained(
      rule: .declarative, payload: ["web_push": 8030, "notification": ["title": "a"]]),
    Complained(
      rule: .declarative,
      payload: ["web_push": 8030, "notification": ["title": "a", "navigate": "/here"]]),
    Complained(
      rule: .declarative,
      payload: [
        "web_push": 8030, "app_badge": "3",
        "notification": ["title": "a", "navigate": "https://app.example/"],
      ]),
    Complained(
      rule: .webPushTopic,
      payload: [
        "web_push": 8030,
        "notification": [
          "title": "a", "navigate": "https://app.example/", "tag": "k", "data": ["dedupe_key": "k"],
        ],
      ], changes: ["topic": "aaaa"]),
    Complained(rule: .webPushTTL, payload: good, changes: ["ttl": "59"]),
  ])
  func `what no service can see is complained of`(complained: Complained) throws {
    let running = try RunningSimulator()
    let browser = try running.addBrowser("jaqueline")
    let answer = try running.webPush(complained.payload.encoded, to: browser, complained.changes)
    #expect(answer.status == 201)
    let verdict = running.simulator.verdict()
    #expect(verdict.complaints.map(\.rule) == [complained.rule], "\(verdict.complaints)")
    #expect(!verdict.ok)
  }

  @Test func `a body for another browser is taken and complained of`() throws {
    let running = try RunningSimulator()
    let browser = try running.addBrowser("jaqueline")
    let other = try running.addBrowser("dennis")
    let body = try Pushing.body(Pushing.payload(), for: other.subscription)
    #expect(try running.webPush(Data(), to: browser, body: body).status == 201)
    #expect(running.simulator.verdict().complaints.map(\.rule) == [.webPushBody])
    #expect(running.browser(browser.id)?.shown == [])
  }

  @Test func `offline, a service keeps the newest of each topic until its time`() throws {
    let running = try RunningSimulator()
    let browser = try running.addBrowser("jaqueline")
    #expect(try running.call("POST", "/browsers/\(browser.id)/offline").0 == 200)
    let key = "cs-invite-cs_short"
    let topic = WebPushTopic.of(key)
    for _ in 0..<2 { #expect(try running.webPush(Pushing.payload(), to: browser).status == 201) }
    #expect(
      try running.webPush(Pushing.payload(key), to: browser, ["topic": topic, "ttl": "60"]).status
        == 201)
    #expect(try running.webPush(Pushing.payload(), to: browser, ["ttl": "0"]).status == 201)
    #expect(running.browser(browser.id)?.held.count == 2)
    running.time.advance(by: .seconds(60))
    #expect(try running.call("POST", "/browsers/\(browser.id)/online").0 == 200)
    let after = running.browser(browser.id)
    #expect(after?.shown.map(\.key) == [Pushing.dedupeKey])
    #expect(after?.counts.replaced == 1)
    #expect(after?.counts.expired == 2)
    #expect(after?.counts.repeated == 0)
  }

  @Test func `faults strike by browser with a status and Retry-After`() throws {
    let running = try RunningSimulator()
    let browser = try running.addBrowser("jaqueline")
    let faults: JSONValue = [
      [
        "match": ["push_type": "web-push", "phone": .string(browser.id)], "action": "answer",
        "status": 429, "reason": "TooMany", "retry_after_seconds": 7, "count": 1,
      ],
      [
        "match": ["push_type": "web-push"], "action": "answer", "status": 503, "delivers": true,
        "count": 1,
      ],
    ]
    #expect(try running.call("POST", "/faults", faults).0 == 200)
    let first = try running.webPush(Pushing.payload(), to: browser)
    #expect(first.status == 429)
    #expect(first.headers["retry-after"] == "7")
    #expect(running.browser(browser.id)?.counts.received == 0)
    #expect(try running.webPush(Pushing.payload(), to: browser).status == 503)
    #expect(running.browser(browser.id)?.counts.received == 1)
    #expect(try running.webPush(Pushing.payload(), to: browser).status == 201)
    let pushes = try running.call("GET", "/pushes").1
    guard case .array(let records) = pushes else {
      Issue.record("no records: \(pushes)")
      return
    }
    #expect(records.map { $0["status"] } == [429, 503, 201])
    #expect(records.map { $0["taken"] } == [false, true, true])
    #expect(records.allSatisfy { $0["push_type"] == "web-push" })
    // The browser saw one tag twice, and shows it once.
    #expect(running.browser(browser.id)?.counts.repeated == 1)
    #expect(running.browser(browser.id)?.shown.count == 1)
  }
}
