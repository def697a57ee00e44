import ActivityContracts
import Foundation
import HTTPClient
import ServiceRuntime
import Simulator
import TestSupport
import Testing
import Vocabulary

/// Over real connections: HTTP/2 and TLS to the stand-in for APNs, HTTP to the control API.
@Suite struct SimulatorTests {
  private static let session: JSONValue = [
    "id": "cs_abc", "date": "2026-06-18", "state": "answering", "rev": 1,
    "participants": [
      [
        "user_id": "dennis", "name": "Dennis", "tint": "sky", "emoji": "🦊", "status": "joined",
      ],
      ["user_id": "mara", "name": "Mara", "tint": "coral", "emoji": "🐠", "status": "invited"],
    ],
    "updated_at": .string(Making.now.contractForm), "expires_at": "2026-06-18T14:00:00Z",
    "status_label": "Mara füllt aus", "deep_link_step": "answers", "proposal_count": 0,
    "partner_ready": false,
  ]

  @Test func `a phone tells the API its name and its two tokens`() throws {
    let running = try RunningSimulator()
    let phone = try running.addPhone("dennis")
    #expect(phone.registered)
    #expect(running.api.calls.map(\.path).first == "/api/me")
    #expect(running.api.calls.allSatisfy { $0.caller == "Bearer jwt-dennis" })
    #expect(running.api.registrations("alert").map { $0["token"] } == [.string(phone.alertToken)])
    let start = running.api.registrations("la-pushToStart")
    #expect(start.map { $0["token"] } == [.string(phone.pushToStartToken)])
    #expect(start.first?["attributes_type"] == "CookSuggestActivityAttributes")
    #expect(start.first?["bundle_id"] == .string(Making.bundle))
  }

  @Test func `a card lives from start to end over HTTP2`() throws {
    let running = try RunningSimulator()
    let phone = try running.addPhone("mara")
    let answer = try running.push(Making.start(), to: phone.pushToStartToken)
    #expect(answer.status == 200)
    #expect(answer.body.isEmpty)
    #expect(answer.headers["apns-id"] == "0190f3a2-7b1c-7def-8123-0123456789ab")
    #expect(answer.headers["apns-unique-id"] == nil)
    #expect(answer.headers["date"] == "Thu, 18 Jun 2026 12:00:00 GMT")
    #expect(becomesTrue { running.api.registrations("la-update").count == 1 })
    let registered = running.api.registrations("la-update").first
    guard case .string(let token) = registered?["token"] else {
      Issue.record("no update token in \(running.api.calls)")
      return
    }
    #expect(registered?["context_key"] == "cooksuggest:cs_abc:mara")
    #expect(try running.push(Making.update(rev: 2), to: token).status == 200)
    #expect(running.phone(phone.id)?.cards.last?.rev == 2)
    #expect(try running.push(Making.update("end", rev: 3), to: token).status == 200)
    let late = try running.push(Making.update(rev: 4), to: token)
    #expect(late.status == 410)
    #expect(
      try JSONValue(parsing: late.body)
        == ["reason": "Unregistered", "timestamp": .integer(Making.now.milliseconds)])
    #expect(
      running.simulator.world.read { $0.fleet.pushCounts } == [
        "200": 3, "410 Unregistered": 1,
      ])
    #expect(
      becomesTrue {
        running.api.calls.contains {
          $0.path == "/api/live-activities/report" && $0.body["state"] == "ended"
            && $0.body["rev"] == 3
        }
      })
  }

  @Test func `a registration arrives once the API is back`() throws {
    let running = try RunningSimulator()
    running.api.answer(503)
    let phone = try running.addPhone("mara")
    #expect(!phone.registered)
    _ = try running.push(Making.start(), to: phone.pushToStartToken)
    #expect(running.simulator.verdict().callsWaiting > 0)
    running.api.answer(200)
    #expect(becomesTrue { running.simulator.line.waiting == 0 })
    #expect(running.api.registrations("alert").count == 1)
    #expect(running.api.registrations("la-pushToStart").count == 1)
    #expect(running.api.registrations("la-update").count == 1)
  }

  @Test func `a registration that the API refuses is complained of`() throws {
    let running = try RunningSimulator()
    let phone = try running.addPhone("mara")
    running.api.answer(422)
    _ = try running.push(Making.start(), to: phone.pushToStartToken)
    #expect(becomesTrue { running.simulator.world.read { $0.fleet.complaintCount } >= 1 })
    #expect(running.simulator.world.read { $0.fleet.complaints.first?.rule } == .api)
  }

  @Test func `two ports keep the environments apart`() throws {
    let running = try RunningSimulator { $0.sandboxPort = 0 }
    var order = PhoneOrder(userID: UserID("mara"), name: nil, token: "t")
    order.environment = .sandbox
    let phone = try running.simulator.add(order)
    let sandbox = running.simulator.sandboxPort
    #expect(sandbox != running.simulator.apnsPort)
    #expect(try running.push(Making.start(), to: phone.pushToStartToken).status == 400)
    let answer = try running.push(Making.start(), to: phone.pushToStartToken, port: sandbox)
    #expect(answer.status == 200)
    #expect(answer.headers["apns-unique-id"] != nil)
  }

  @Test func `faults strike as ordered and are used up`() throws {
    let running = try RunningSimulator()
    let phone = try running.addPhone("mara")
    let faults: JSONValue = [
      [
        "action": "answer", "status": 503, "reason": "ServiceUnavailable",
        "retry_after_seconds": 7, "count": 1,
      ],
      ["action": "drop", "count": 1], ["action": "reset", "count": 1],
      ["action": "goaway", "count": 1],
      ["action": "never", "delivers": true, "count": 1],
    ]
    #expect(try running.call("POST", "/faults", faults).0 == 200)
    let refused = try running.push(Making.start(), to: phone.pushToStartToken)
    #expect(refused.status == 503)
    #expect(refused.headers["retry-after"] == "7")
    #expect(refused.text == #"{"reason":"ServiceUnavailable"}"#)
    for _ in ["drop", "reset", "goaway"] {
      #expect(throws: HTTPClientError.self) {
        try running.push(
          Making.start(), to: phone.pushToStartToken, timeout: .milliseconds(1500))
      }
    }
    #expect(running.phone(phone.id)?.cards.isEmpty == true)
    // The answer is lost, the push is not.
    #expect(throws: HTTPClientError.self) {
      try running.push(Making.start(), to: phone.pushToStartToken, timeout: .milliseconds(300))
    }
    #expect(running.phone(phone.id)?.cards.count == 1)
    guard case .array(let records) = try running.call("GET", "/pushes").1 else {
      Issue.record("no records")
      return
    }
    #expect(records.map { $0["status"] } == [503, nil, nil, nil, nil])
    #expect(records.map { $0["taken"] } == [false, false, false, false, true])
    #expect(try running.call("GET", "/faults").1 == [])
  }

  @Test func `a delayed answer comes late and the push at once`() throws {
    let running = try RunningSimulator {
      $0.faults = [Fault(.delay, delayMilliseconds: 200)]
    }
    let phone = try running.addPhone("mara")
    let began = ContinuousClock.now
    #expect(try running.push(Making.start(), to: phone.pushToStartToken).status == 200)
    #expect(ContinuousClock.now - began >= .milliseconds(200))
  }

  @Test func `the control API adds phones, starts cards and judges`() throws {
    let running = try RunningSimulator()
    running.api.tell(Self.session)
    let order: JSONValue = ["user_id": "dennis", "name": "Dennis", "token": "jwt-dennis"]
    let (status, added) = try running.call("POST", "/phones", order)
    #expect(status == 201)
    #expect(added["id"] == "dennis-1")
    #expect(added["registered"] == true)
    let (started, view) = try running.call(
      "POST", "/phones/dennis-1/start-local", ["session_id": "cs_abc"])
    #expect(started == 200)
    guard case .array(let cards) = view["cards"], let card = cards.first else {
      Issue.record("no card in \(view)")
      return
    }
    #expect(card["origin"] == "local")
    #expect(card["attributes"]?["partnerName"] == "Mara")
    #expect(card["content_state"]?["statusLabel"] == "Mara füllt aus")
    #expect(becomesTrue { running.api.registrations("la-update").count == 1 })
    #expect(becomesTrue { running.simulator.line.waiting == 0 })
    let (_, verdict) = try running.call("GET", "/verdict")
    #expect(verdict["ok"] == true, "\(verdict)")
    #expect(verdict["equal"] == 1)
  }

  @Test func `a phone goes offline, online, dismisses and is uninstalled`() throws {
    let running = try RunningSimulator()
    let phone = try running.addPhone("mara")
    _ = try running.push(Making.start(), to: phone.pushToStartToken)
    #expect(becomesTrue { running.api.registrations("la-update").count == 1 })
    let token = running.phone(phone.id)?.cards.first?.updateToken ?? ""
    #expect(try running.call("POST", "/phones/mara-1/offline").1["online"] == false)
    _ = try running.push(Making.update(rev: 2), to: token)
    #expect(running.phone(phone.id)?.cards.first?.rev == 1)
    #expect(try running.call("POST", "/phones/mara-1/online").1["online"] == true)
    #expect(running.phone(phone.id)?.cards.first?.rev == 2)
    _ = try running.call("POST", "/phones/mara-1/dismiss", ["session_id": "cs_abc"])
    #expect(running.phone(phone.id)?.cards.first?.standing == .dismissed)
    #expect(
      becomesTrue {
        running.api.calls.contains { $0.body["state"] == "dismissed" }
      })
    _ = try running.call("POST", "/phones/mara-1/uninstall")
    #expect(try running.push(Making.start(), to: phone.pushToStartToken).status == 410)
  }

  @Test(
    arguments: [
      ("GET", "/nothing", nil, 404), ("POST", "/phones/nobody/offline", nil, 404),
      ("PUT", "/phones", nil, 405), ("POST", "/verdict", nil, 405),
      ("POST", "/phones", ["user_id": "x"], 422),
      ("POST", "/phones", ["user_id": "", "token": ""], 422),
      ("POST", "/faults", [["action": "answer"]], 422),
    ] as [(String, String, JSONValue?, Int)])
  func `a wrong call is told why`(method: String, path: String, body: JSONValue?, status: Int)
    throws
  {
    let running = try RunningSimulator()
    let (given, problem) = try running.call(method, path, body)
    #expect(given == status)
    #expect(problem["status"] == .integer(Int64(status)))
  }

  @Test func `a page of somebody else cannot reach the control API`() throws {
    let running = try RunningSimulator()
    for headers in [["origin": "https://evil.example"], ["host": "evil.example"]] {
      let answer = try HTTPClient().send(
        "POST", running.control + "/phones/mara-1/uninstall", headers: headers)
      #expect(answer.status == 403)
    }
    let own = try HTTPClient().send(
      "GET", running.control + "/phones", headers: ["origin": running.control])
    #expect(own.status == 200)
  }

  @Test func `the page needs nothing from outside`() throws {
    let running = try RunningSimulator()
    let page = try HTTPClient().send("GET", running.control + "/")
    #expect(page.status == 200)
    #expect(page.headers["content-type"] == "text/html; charset=utf-8")
    #expect(page.headers["content-security-policy"]?.contains("default-src 'none'") == true)
    #expect(!page.text.contains("/*style*/"))
    #expect(!page.text.contains("/*script*/"))
    #expect(page.text.contains("new EventSource"))
    let outside = page.text.replacing("http://www.w3.org/2000/svg", with: "")
    #expect(!outside.contains("http://"))
    #expect(!outside.contains("https://"))
  }

  @Test func `a viewer hears of phones and pushes as they come`() throws {
    let running = try RunningSimulator()
    let phone = try running.addPhone("mara")
    let listener = EventListener(port: running.simulator.controlPort)
    #expect(listener.hears("event: phones"))
    #expect(listener.hears(#""cards":[]"#))
    _ = try running.push(Making.start(), to: phone.pushToStartToken)
    #expect(listener.hears("event: pushes"))
    #expect(listener.hears(#""event":"start""#))
    #expect(listener.hears(#""sessionId":"cs_abc""#))
  }

  @Test func `a stale date shows on the card when its time has come`() throws {
    let running = try RunningSimulator()
    let phone = try running.addPhone("mara")
    _ = try running.push(Making.start(), to: phone.pushToStartToken)
    running.time.advance(by: .seconds(600))
    #expect(becomesTrue { running.phone(phone.id)?.cards.first?.standing == .stale })
    #expect(becomesTrue { running.api.calls.contains { $0.body["state"] == "stale" } })
  }

  @Test func `a setting that cannot be is refused`() {
    #expect(throws: SettingsError.self) {
      try RunningSimulator { $0.providerPublicKey = [1, 2, 3] }
    }
  }
}
