import Foundation
import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct APNsSenderTests {
  private let rig = SenderRig()

  // MARK: What goes out

  @Test func `a push that APNs takes is done, its token proven, its rev and answer kept`() throws {
    try rig.register(1, isProven: false)
    #expect(try rig.push(rig.job(1, rev: 4)) == [.done])
    #expect(try rig.registration(1)?.provenAt == rig.time.now())
    let token = Samples.token(1)
    #expect(try rig.store.read { try $0.deliveredRev(to: token) } == 4)
    let record = try #require(try rig.records().first)
    #expect(record.status == 200)
    #expect(record.rev == 4)
    #expect(record.attempt == 1)
    #expect(record.tokenFingerprint == token.fingerprint)
    #expect(rig.sender.inHand == 0)
    #expect(rig.counted.contains(#"status="200"} 1"#))
  }

  @Test func `the request says what APNs must know`() throws {
    try rig.register(1, isProven: false)
    let job = try rig.job(1)
    _ = try rig.push(job)
    let request = try #require(rig.transport.requests.first)
    #expect(request.topic == "app.example.cook.push-type.liveactivity")
    #expect(request.pushType == "liveactivity")
    #expect(request.apnsID == job.id)
    #expect(request.priority == 10)
    #expect(request.expiration == job.deadline.seconds)
    #expect(!request.isProven, "goes on the probation connection")
  }

  @Test func `A-7 it is stamped with the moment of sending, not of its making`() throws {
    try rig.register(1)
    let job = try rig.job(1)
    rig.time.advance(by: .seconds(90))
    _ = try rig.push(job)
    let body = try #require(rig.transport.requests.first?.body)
    #expect(
      try JSONValue(parsing: body)["aps"]?["timestamp"] == .integer(Samples.noon.seconds + 90))
  }

  @Test func `an alert goes as it was made, to the app's own topic`() throws {
    try rig.register(1, .alert)
    let job = try rig.job(1, .alert)
    _ = try rig.push(job)
    #expect(rig.transport.requests.first?.body == job.payload)
    #expect(rig.transport.requests.first?.topic == Samples.bundle)
  }

  @Test func `updates that follow closely go with 5, ends with 10`() throws {
    try rig.register(1)
    for rev in 1...3 { _ = try rig.push(rig.job(1, rev: rev)) }
    _ = try rig.push(rig.job(1, .end, rev: 4))
    #expect(rig.transport.requests.map(\.priority) == [10, 5, 5, 10])
  }

  @Test func `one push to a token at a time, others meanwhile`() throws {
    for number in 1...2 { try rig.register(number) }
    rig.transport.answer = { _ in nil }
    _ = try rig.push(rig.job(1, rev: 1), rig.job(2, rev: 1))
    #expect(try rig.push(rig.job(1, rev: 2)).isEmpty)
    #expect(rig.transport.requests.map(\.token) == [Samples.token(1), Samples.token(2)])
    rig.answer(200)
    #expect(try rig.advance() == [.done, .done, .done])
    #expect(rig.transport.overlaps.isEmpty)
    #expect(rig.transport.requests.count == 3)
  }

  @Test func `no more goes out than the transport has room for`() throws {
    for number in 1...5 { try rig.register(number) }
    rig.transport.inFlightMax = 2
    rig.transport.answer = { _ in nil }
    _ = try rig.push(all: (1...5).map { try rig.job($0) })
    #expect(rig.transport.requests.count == 2)
    rig.answer(200)
    #expect(try rig.advance().count == 5)
  }

  // MARK: The last look

  @Test func `A-15 what was delivered already is not delivered again`() throws {
    try rig.register(1)
    #expect(try rig.push(rig.job(1), rig.job(1)).count == 2)
    #expect(rig.transport.requests.count == 1)
  }

  @Test func `a waiting push whose state grows old is superseded`() throws {
    try rig.register(1)
    rig.transport.answer = { _ in nil }
    _ = try rig.push(rig.job(1, rev: 1))
    _ = try rig.push(rig.job(1, rev: 2))
    try saveState(rev: 3)
    rig.answer(200)
    #expect(
      try rig.advance() == [
        .done, .superseded(because: "rev 3 is newer than 2"),
      ])
    #expect(rig.transport.requests.count == 1)
  }

  @Test func `what has passed its deadline is expired`() throws {
    try rig.register(1)
    let job = try rig.job(1, deadlineIn: .seconds(5))
    rig.time.advance(by: .seconds(5))
    #expect(try rig.push(job) == [.expired])
    #expect(rig.transport.requests.isEmpty)
  }

  @Test func `an alert whose invitation was resolved while it waited is not sent`() throws {
    try rig.register(1, .alert)
    try rig.store.write { transaction in
      let notification = Pipeline.Notification(
        id: "n", userID: rig.owner, type: "t", title: "t", body: "b", icon: "i", link: "l",
        dedupeKey: "cs-invite-cs_1", createdAt: Samples.noon, updatedAt: Samples.noon)
      _ = try transaction.insert(notification)
      _ = try transaction.resolve(
        dedupeKey: "cs-invite-cs_1", because: "cancelled", at: Samples.noon)
    }
    #expect(
      try rig.push(rig.job(1, .alert)) == [.superseded(because: "the notification is resolved")])
    #expect(rig.transport.requests.isEmpty)
  }

  @Test func `what is no push job is dead`() throws {
    let message = Message(id: "x", type: "nonsense", contentType: "", body: Data())
    let settlements = try rig.sender.take([Samples.delivery(message)])
    #expect(
      settlements.map(\.disposition) == [.dead(because: "type \"nonsense\" is not a push job")])
    #expect(rig.sender.inHand == 0)
  }

  // MARK: Starts

  @Test func `a start that another sender is about to send waits`() throws {
    let other = SenderRig(beside: rig)
    try rig.register(1, .pushToStart)
    try saveStart()
    rig.transport.answer = { _ in nil }
    #expect(try rig.push(rig.job(1, .start)).isEmpty)
    #expect(
      try other.push(rig.job(1, .start)) == [
        .retry(notBefore: .seconds(5), because: "another sender holds this start")
      ])
    rig.answer(200)
    #expect(try rig.advance() == [.done])
    #expect(try other.push(rig.job(1, .start)) == [.superseded(because: "started already")])
    #expect(other.transport.requests.isEmpty)
  }

  @Test func `a start whose sender died is taken over when its hold has run out`() throws {
    let other = SenderRig(beside: rig)
    try rig.register(1, .pushToStart)
    try saveStart()
    rig.transport.answer = { _ in nil }
    _ = try rig.push(rig.job(1, .start))
    rig.time.advance(by: .seconds(30))
    #expect(try other.push(rig.job(1, .start)) == [.done])
    #expect(other.transport.requests.map(\.apnsID) == rig.transport.requests.map(\.apnsID))
  }

  @Test func `E-15 a start that was refused for now is given free`() throws {
    let other = SenderRig(beside: rig)
    try rig.register(1, .pushToStart)
    try saveStart()
    rig.answer(503, "ServiceUnavailable")
    _ = try rig.push(rig.job(1, .start))
    #expect(try other.push(rig.job(1, .start)) == [.done])
  }

  /// A start whose answer was lost is the one push that must not simply go again: a second card
  /// would stay on the Lock Screen for hours.
  @Test func `a start without an answer waits until the phone would have spoken`() throws {
    let other = SenderRig(beside: rig)
    try rig.register(1, .pushToStart)
    try saveStart()
    rig.transport.answer = { _ in .unanswered(because: "reset") }
    #expect(
      try rig.push(rig.job(1, .start)) == [.retry(notBefore: .seconds(25), because: "reset")])
    #expect(rig.transport.requests.count == 1)
    rig.time.advance(by: .seconds(24))
    #expect(
      try other.push(rig.job(1, .start)) == [
        .retry(notBefore: .seconds(5), because: "another sender holds this start")
      ])
    rig.time.advance(by: .seconds(1))
    #expect(try other.push(rig.job(1, .start)) == [.done], "nobody spoke: it did not arrive")
    #expect(other.transport.requests.count == 1)
  }

  @Test func `a start without an answer is settled by the card that the phone registers`() throws {
    try rig.register(1, .pushToStart, device: "phone")
    try saveStart()
    rig.transport.answer = { _ in .unanswered(because: "reset") }
    _ = try rig.push(rig.job(1, .start))
    let card = Samples.registration(
      Samples.token(2), of: rig.owner, .update, context: rig.context(1), device: "phone")
    try rig.store.write { try $0.register(card) }
    rig.time.advance(by: .seconds(25))
    rig.answer(200)
    #expect(try rig.push(rig.job(1, .start)) == [.superseded(because: "started already")])
    #expect(rig.transport.requests.count == 1)
    let start = try rig.store.read { try $0.start(of: rig.session, token: Samples.token(1)) }
    #expect(start?.acceptedAt == rig.time.now(), "the builder asks for it no more")
  }

  @Test func `a start that APNs never processed goes again at once`() throws {
    try rig.register(1, .pushToStart)
    try saveStart()
    rig.answer(.neverProcessed(because: "GOAWAY"), .status(200))
    #expect(try rig.push(rig.job(1, .start)) == [.done])
    #expect(rig.transport.requests.count == 2)
  }

  // MARK: The store is away

  @Test func `an answer that cannot be recorded is neither acknowledged nor sent twice`() throws {
    try rig.register(1)
    rig.transport.answer = { _ in nil }
    _ = try rig.push(rig.job(1, rev: 1))
    rig.storeSwitch.isAway = true
    rig.answer(200)
    for _ in 0..<3 { #expect(throws: StoreError.self) { try rig.advance() } }
    #expect(rig.sender.inHand == 1)
    rig.storeSwitch.isAway = false
    #expect(try rig.advance() == [.done])
    #expect(rig.transport.requests.count == 1)
    #expect(try rig.records().count == 1)
  }

  @Test func `an open lane is not forgotten with a transaction that failed, nor opened by it`()
    throws
  {
    try rig.register(1)
    rig.transport.answer = { _ in nil }
    _ = try rig.push(rig.job(1))
    rig.answer(403, "InvalidProviderToken")
    rig.storeSwitch.isAway = true
    #expect(throws: StoreError.self) { try rig.advance() }
    #expect(!rig.counted.contains("lockstep_lane_open{"))
    #expect(rig.lanes.open.isEmpty)
    rig.storeSwitch.isAway = false
    #expect(try rig.advance().isEmpty)
    #expect(rig.counted.contains("lockstep_lane_open{"))
    #expect(rig.lanes.open.map(\.because) == ["403 InvalidProviderToken"])
    #expect(rig.lanes.open.map(\.environment) == ["production"])
  }

  // MARK: Giving up

  @Test func `what is in flight when the broker is lost is recorded all the same`() throws {
    try rig.register(1)
    try rig.register(2)
    rig.transport.inFlightMax = 1
    rig.transport.answer = { _ in nil }
    _ = try rig.push(rig.job(1), rig.job(2))
    rig.sender.forgetWaiting()
    rig.answer(200)
    #expect(try rig.advance() == [.done])
    #expect(try rig.records().map(\.tokenFingerprint) == [Samples.token(1).fingerprint])
    #expect(try rig.push(rig.job(1)) == [.superseded(because: "rev 1 was delivered already")])
  }

  @Test func `at the end what has not gone out is given up`() throws {
    try rig.register(1)
    try rig.register(2)
    rig.transport.inFlightMax = 1
    rig.transport.answer = { _ in nil }
    _ = try rig.push(rig.job(1), rig.job(2))
    #expect(rig.sender.giveUpWaiting().map(\.message.id) == [try rig.job(2).id])
    #expect(rig.sender.inHand == 1)
  }

  private func saveStart() throws {
    try rig.store.write {
      try $0.save(
        Start(
          sessionID: rig.session, token: Samples.token(1), contextKey: rig.context(1),
          firstAskedAt: Samples.noon))
    }
  }

  private func saveState(rev: Int) throws {
    let state = ActivityState(
      contextKey: rig.context(1), sessionID: rig.session, userID: rig.owner, rev: rev,
      event: .update, contentState: Data(), attributesType: "T", attributes: nil, alertTitle: nil,
      alertBody: nil, staleAt: nil, dismissAt: nil, deadline: Samples.noon,
      causedAt: Samples.noon, traceparent: nil)
    try rig.store.write { try $0.save([state]) }
  }
}
