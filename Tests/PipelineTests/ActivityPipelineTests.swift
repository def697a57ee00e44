import Activities
import Cryptography
import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import Sessions
import TestSupport
import Testing
import Vocabulary

/// Activities that a program drives, through builder, sender and sweep; APNs says yes to
/// everything.
@Suite struct ActivityPipelineTests {
  private static let user = UserID("u_dennis")
  private static let context = ContextKey("activity:order-1:u_dennis")
  private let time = ManualTime()
  private let store = InMemoryStore()
  private let transport = ScriptedTransport()
  private let builder: PayloadBuilder
  private let sender: APNsSender
  private let startToken = Samples.token(1)
  private let updateToken = Samples.token(2)

  init() throws {
    let pushes = Samples.routes[.apns]
    builder = PayloadBuilder(store: store, pushes: pushes, time: time)
    sender = APNsSender(
      store: store, pushes: pushes, transport: transport, bundleID: Samples.bundle, time: time,
      log: .discarding, metrics: Metrics())
    try register(startToken, .pushToStart)
  }

  private func register(_ token: PushToken, _ kind: TokenKind) throws {
    try store.write {
      try $0.register(
        Samples.registration(
          token, of: Self.user, kind, context: kind == .update ? Self.context : nil,
          device: "phone", at: time.now()))
    }
  }

  /// The token's event, as the API stores it.
  private func tokenEvent(_ token: PushToken) -> OutboxEvent {
    Event.outboxEntry(
      registered: Samples.registration(token, of: Self.user, .update, context: Self.context),
      id: EventID(UUIDText.v7(now: time.now())), at: time.now(), traceparent: nil)
  }

  private func content(
    _ state: JSONValue = ["title": "Confirmed", "data": [:]], alert: Bool = false,
    expiresAt: UnixTime? = nil
  ) -> ActivityContent {
    ActivityContent(
      states: [(Self.user, state)],
      alert: alert ? Activity.Alert(title: "Order", body: "News") : nil,
      relevanceScore: 0.5, deepLink: "app://orders/1", expiresAt: expiresAt)
  }

  private func begun(_ content: ActivityContent) -> ActivityChange {
    Activity.start(
      ActivityKey("order-1"), attributesType: "ShinyActivityAttributes",
      attributes: ["kind": "delivery", "values": ["orderId": "A-1"]], content, at: time.now())
  }

  private func event(_ change: ActivityChange) -> OutboxEvent {
    Event.outboxEntry(
      for: change, by: UserID("shop"), id: EventID(UUIDText.v7(now: time.now())), at: time.now(),
      traceparent: nil)
  }

  /// The events through builder and sender.
  ///
  /// - Returns: what went out, as APNs got it.
  @discardableResult
  private func play(_ events: OutboxEvent...) throws -> [PushRequest] {
    let before = transport.requests.count
    for event in events {
      let built = try builder.take([Samples.delivery(event.message)])
      try #require([[.done], [.stale]].contains(built.map(\.disposition)))
      let jobs = built.flatMap(\.outgoing).enumerated().map {
        Samples.delivery($1.message, UInt64($0 + 1), exchange: "apns", routingKey: "apns")
      }
      _ = try sender.take(jobs)
      while sender.inHand > 0 { _ = try sender.advance() }
    }
    return Array(transport.requests[before...])
  }

  private func aps(_ request: PushRequest) throws -> JSONValue {
    try #require(try JSONValue(parsing: request.body)["aps"])
  }

  private func events(_ requests: [PushRequest]) throws -> [JSONValue?] {
    try requests.map { try aps($0)["event"] }
  }

  // MARK: Shapes

  @Test func `the three pushes of a Shiny activity are the golden ones`() throws {
    let start = begun(content(alert: true))
    let requests = try play(event(start))
    try register(updateToken, .update)
    let update = try #require(
      try start.activity.updated(
        with: content(["title": "On its way", "progress": .number(0.5), "data": [:]], alert: true),
        at: time.now()))
    let end = try #require(update.activity.ended(.ended, at: time.now()))
    let all = try requests + play(event(update), event(end))
    #expect(try events(all) == ["start", "update", "end"])
    for (request, name) in zip(all, ["start", "update", "end"]) {
      try expectGolden("shiny-\(name).json", request.body + Data("\n".utf8))
    }
    // An update with an alert goes at once.
    #expect(all.map(\.priority) == [10, 10, 10])
    #expect(all.allSatisfy { $0.topic == "\(Samples.bundle).push-type.liveactivity" })
  }

  @Test func `an alert's sound goes with the start, and with the updates that ring`() throws {
    var loud = content()
    loud.alert = Activity.Alert(title: "Order", body: "News", sound: "gong.caf")
    let start = begun(loud)
    var sent = try play(event(start))
    try register(updateToken, .update)
    let quiet = try #require(
      try start.activity.updated(with: content(["title": "Next", "data": [:]]), at: time.now()))
    sent += try play(event(quiet))
    let ringing = try #require(try quiet.activity.updated(with: loud, at: time.now()))
    sent += try play(event(ringing))
    #expect(try events(sent) == ["start", "update", "update"])
    #expect(try sent.map { try aps($0)["alert"]?["sound"] } == ["gong.caf", nil, "gong.caf"])
    #expect(try aps(sent[1])["alert"] == nil)
  }

  // MARK: Once, newest, and the end

  @Test func `a start that is repeated is sent once`() throws {
    let start = begun(content())
    #expect(try play(event(start)).count == 1)
    #expect(try play(event(start), event(start)).isEmpty)
    let next = try #require(
      try start.activity.updated(with: content(["title": "Next", "data": [:]]), at: time.now()))
    // Before the token came there is nothing to send to; then the newest state goes out.
    #expect(try play(event(next)).isEmpty)
    try register(updateToken, .update)
    let flushed = try play(tokenEvent(updateToken))
    #expect(try events(flushed) == ["update"])
    #expect(try aps(flushed[0])["content-state"]?["title"] == "Next")
    #expect(try play(tokenEvent(updateToken), event(next), event(start)).isEmpty)
  }

  @Test func `a token that comes after the end gets the end`() throws {
    let start = begun(content())
    let end = try #require(start.activity.ended(.ended, at: time.now()))
    #expect(try events(play(event(start), event(end))) == ["start"])
    try register(updateToken, .update)
    #expect(try events(play(tokenEvent(updateToken))) == ["end"])
  }

  @Test func `a card that was swiped away is not started again`() throws {
    let start = begun(content())
    let report = PhoneReport(
      contextKey: Self.context, userID: Self.user, state: .dismissed, rev: nil,
      reportedAt: time.now())
    try store.write { try $0.save(report) }
    #expect(try play(event(start)).isEmpty)
  }

  @Test func `an event of another program is held to the contract`() throws {
    let broken = begun(content(["title": "x", "data": ["stops": 2]]))
    let settled = try builder.take([Samples.delivery(event(broken).message)])
    guard case .dead(let reason) = settled[0].disposition else {
      Issue.record("\(settled[0].disposition)")
      return
    }
    #expect(reason.contains("recipients[0].content_state/data/stops"))
  }

  // MARK: Time

  /// A range of dates moves on by itself: two days of it cost one push.
  @Test func `48 hours of a range need no update`() throws {
    let begin = time.now()
    let range: JSONValue = [
      "title": "On its way", "data": [:],
      "progressStart": .integer(begin.seconds - DateForm.appleEpoch),
      "progressEnd": .integer(begin.seconds + 48 * 3600 - DateForm.appleEpoch),
    ]
    let start = begun(content(range, expiresAt: begin + .seconds(49 * 3600)))
    try store.write { rows in try rows.save(start.activity) }
    #expect(try events(play(event(start))) == ["start"])
    try register(updateToken, .update)
    #expect(try events(play(tokenEvent(updateToken))) == ["update"])
    let sweep = ExpirySweep(
      store: store, limits: SessionLimits(), time: time, log: .discarding, metrics: Metrics())
    for _ in 0..<48 {
      time.advance(by: .seconds(3600))
      #expect(try sweep.turn().expired == 0)
      #expect(try play(tokenEvent(updateToken)).isEmpty)
    }
    #expect(try store.read { try $0.outboxDepth().events } == 0)
    // Then its time is over, once, whoever looks.
    time.advance(by: .seconds(3600))
    #expect(try sweep.turn().expired == 1)
    #expect(try sweep.turn() == ExpirySweep.Turn())
    let expired = try store.write { rows in
      try rows.leaseEvents(atMost: 10, now: time.now(), until: time.now() + .seconds(1))
    }
    #expect(expired.map(\.message.type) == ["activity.ended"])
    // Its way can be followed from here.
    #expect(try Event(reading: expired[0].message).traceparent != nil)
    #expect(try events(play(expired[0])) == ["end"])
  }
}
