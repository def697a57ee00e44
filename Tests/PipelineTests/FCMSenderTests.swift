import Foundation
import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct FCMSenderTests {
  private let rig = FCMRig()

  @Test func `a state reaches its phone, once, and is recorded`() throws {
    try rig.register(1)
    #expect(try rig.push(rig.job(1, rev: 3)) == [.done])
    #expect(try rig.sent() == ["1 rev 3"])
    #expect(try rig.delivered(1) == 3)
    let record = try #require(try rig.records().first)
    #expect(record.event == "fcm")
    #expect(record.status == 200)
    #expect(record.consequence == .accepted)
    #expect(try record.tokenFingerprint == rig.token(1).fingerprint)
    #expect(rig.counter(#"lockstep_fcm_messages_total{outcome="accepted"}"#) == 1)
  }

  // MARK: Order

  @Test func `one message at a time goes to one place, the others go on`() throws {
    try rig.register(1, 2)
    rig.carrier.answer = { _ in nil }
    #expect(try rig.push(rig.job(1, rev: 1), rig.job(2, rev: 1)).isEmpty)
    #expect(try rig.push(rig.job(1, rev: 2)).isEmpty)
    #expect(try rig.sent() == ["1 rev 1", "2 rev 1"])
    rig.takeAll()
    #expect(try rig.advance() == [.done, .done, .done])
    #expect(try rig.sent() == ["1 rev 1", "2 rev 1", "1 rev 2"])
  }

  @Test func `two cards on one phone do not wait for each other`() throws {
    try rig.register(1)
    rig.carrier.answer = { _ in nil }
    _ = try rig.push(rig.job(1, rev: 1, card: 1), rig.job(1, rev: 1, card: 2))
    #expect(rig.carrier.requests.count == 2)
  }

  @Test func `of states that wait for one place only the newest goes, in whatever order they come`()
    throws
  {
    try rig.register(1)
    let jobs = try [2, 4, 1, 3].map { try rig.job(1, rev: $0) }
    let dispositions = try rig.push(all: jobs)
    #expect(
      dispositions == [
        .superseded(because: "rev 4 waits beside 2"), .superseded(because: "rev 4 waits beside 1"),
        .superseded(because: "rev 4 waits beside 3"), .done,
      ])
    #expect(try rig.sent() == ["1 rev 4"])
  }

  @Test func `an older state never goes after a newer one`() throws {
    try rig.register(1)
    _ = try rig.push(rig.job(1, rev: 5))
    #expect(
      try rig.push(rig.job(1, rev: 4)) == [.superseded(because: "rev 5 is delivered")])
    #expect(try rig.sent() == ["1 rev 5"])
  }

  @Test func `an older state never goes after a newer one is known`() throws {
    try rig.register(1)
    try rig.store.write { try $0.save([state(1, rev: 7)]) }
    #expect(
      try rig.push(rig.job(1, rev: 6)) == [.superseded(because: "rev 7 is known, this is 6")])
    #expect(rig.carrier.requests.isEmpty)
  }

  @Test func `what another sender delivered meanwhile goes out once more, after ours`() throws {
    let other = FCMRig(beside: rig)
    try rig.register(1)
    try rig.store.write { try $0.save([state(1, rev: 1)]) }
    rig.carrier.answer = { _ in nil }
    _ = try rig.push(rig.job(1, rev: 1))
    try rig.store.write { try $0.save([state(1, rev: 2)]) }
    #expect(try other.push(other.job(1, rev: 2)) == [.done])
    rig.takeAll()
    let settled = try #require(try rig.settleMore().first)
    let again = try #require(settled.outgoing.first)
    #expect(again.exchange == "fcm")
    #expect(try FCMJob(reading: again.message).rev == 2)
    #expect(try rig.delivered(1) == 1, "so that it may go")
    #expect(try other.push(FCMJob(reading: again.message)) == [.done])
    #expect(try rig.delivered(1) == 2)
  }

  private func state(_ number: Int, rev: Int) -> ActivityState {
    ActivityState(
      contextKey: rig.context(number), sessionID: rig.session, userID: rig.owner, rev: rev,
      event: .update, contentState: Data(#"{"rev":\#(rev)}"#.utf8), attributesType: "Cook",
      attributes: nil, alertTitle: nil, alertBody: nil, staleAt: nil, dismissAt: nil,
      deadline: rig.time.now() + .seconds(7200), causedAt: rig.time.now(), traceparent: nil)
  }

  // MARK: What is not sent

  @Test func `a delivery that comes again has one effect`() throws {
    try rig.register(1)
    let job = try rig.job(1)
    #expect(try rig.push(job, job) == [.done, .superseded(because: "rev 1 is delivered")])
    #expect(try rig.push(job) == [.superseded(because: "rev 1 is delivered")])
    #expect(rig.carrier.requests.count == 1)
  }

  @Test func `after its deadline a state is dropped, and that is recorded`() throws {
    try rig.register(1)
    #expect(try rig.push(rig.job(1, deadlineIn: .zero)) == [.expired])
    #expect(rig.carrier.requests.isEmpty)
    let record = try #require(try rig.records().first)
    #expect(record.consequence == .expired)
    #expect(!record.wasSent)
  }

  @Test func `a phone that is gone, or another's now, gets nothing`() throws {
    try rig.register(2, of: UserID("u_dennis"))
    let gone = Disposition.superseded(because: "the phone's token is gone")
    #expect(try rig.push(rig.job(1), rig.job(2)) == [gone, gone])
    #expect(rig.carrier.requests.isEmpty)
  }

  @Test func `data of 4097 bytes never leaves`() throws {
    try rig.register(1, 2)
    let least = try rig.job(1, padding: 1).dataBytes
    let fits = try rig.job(1, padding: 4096 - least + 1)
    let tooLarge = try rig.job(2, padding: 4096 - least + 2)
    #expect(try rig.push(fits) == [.done])
    let words = "the data of an FCM message has 4097 bytes, want at most 4096"
    #expect(try rig.push(tooLarge) == [.dead(because: words)])
    #expect(rig.carrier.requests.count == 1)
  }

  @Test func `what is no job is dead at once`() throws {
    let message = Message(id: "x", type: "fcm.nothing", contentType: "c", body: Data())
    let settled = try rig.sender.take([Samples.delivery(message)])
    #expect(
      settled.map(\.disposition)
        == [.dead(because: "type \"fcm.nothing\" is not an FCM job")])
  }

  // MARK: The store, and giving up

  @Test func `an answer that cannot be stored is neither acknowledged nor sent twice`() throws {
    try rig.register(1)
    rig.carrier.answer = { _ in nil }
    _ = try rig.push(rig.job(1))
    rig.storeSwitch.isAway = true
    rig.takeAll()
    for _ in 0..<3 { #expect(throws: StoreError.self) { try rig.advance() } }
    #expect(rig.sender.inHand == 1)
    rig.storeSwitch.isAway = false
    #expect(try rig.advance() == [.done])
    #expect(rig.carrier.requests.count == 1)
    #expect(try rig.records().count == 1)
  }

  @Test func `no more is sent than there is room for, and what waits is given up at the end`()
    throws
  {
    try rig.register(1, 2, 3, 4, 5)
    rig.carrier.inFlightMax = 2
    rig.carrier.answer = { _ in nil }
    #expect(try rig.push(all: (1...5).map { try rig.job($0) }).isEmpty)
    #expect(rig.carrier.requests.count == 2)
    #expect(rig.sender.inHand == 5)
    #expect(rig.sender.giveUpWaiting().count == 3)
    #expect(rig.sender.inHand == 2)
    rig.takeAll()
    #expect(try rig.advance() == [.done, .done])
    #expect(rig.sender.inHand == 0)
  }

  @Test func `what is in flight when the broker is lost is recorded all the same`() throws {
    try rig.register(1, 2)
    rig.carrier.inFlightMax = 1
    rig.carrier.answer = { _ in nil }
    _ = try rig.push(rig.job(1), rig.job(2))
    rig.sender.forgetWaiting()
    rig.takeAll()
    #expect(try rig.advance() == [.done])
    #expect(try rig.delivered(1) == 1)
    #expect(try rig.delivered(2) == nil)
    #expect(try rig.push(rig.job(1)) == [.superseded(because: "rev 1 is delivered")])
  }
}
