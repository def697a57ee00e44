import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// What the sender keeps for `lockstep explain`.
@Suite struct SenderRecordTests {
  private let rig = SenderRig()

  private func states(_ numbers: ClosedRange<Int>, rev: Int) throws {
    try rig.store.write { rows in
      try rows.save(
        numbers.map { number in
          ActivityState(
            contextKey: rig.context(number), sessionID: rig.session, userID: rig.owner, rev: rev,
            event: .update, contentState: Data(), attributesType: "T", attributes: nil,
            alertTitle: nil, alertBody: nil, staleAt: nil, dismissAt: nil,
            deadline: Samples.noon, causedAt: Samples.noon, traceparent: nil)
        })
    }
  }

  @Test func `what is dropped is recorded with the reason, and as not sent`() throws {
    try rig.register(1)
    try states(1...1, rev: 7)
    #expect(try rig.push(rig.job(1, rev: 6)).count == 1)
    let record = try #require(rig.records().first)
    #expect(record.reason == "superseded: rev 7 is newer than 6")
    #expect(record.status == nil)
    #expect(!record.wasSent)
    #expect(record.consequence == .superseded)
    #expect(try rig.store.read { try $0.unansweredJobs(among: [record.jobID]) }.isEmpty)
  }

  @Test func `what has expired is recorded too`() throws {
    try rig.register(1)
    let job = try rig.job(1, deadlineIn: .seconds(5))
    rig.time.advance(by: .seconds(5))
    #expect(try rig.push(job) == [.expired])
    #expect(try rig.records().map(\.consequence) == [.expired])
  }

  @Test func `a batch of drops and answers is one commit`() throws {
    let commits = CommitCount()
    let rig = SenderRig(store: commits.store())
    for number in 1...50 { try rig.register(number) }
    let contexts = (1...49).map { rig.context($0) }
    try rig.store.write { rows in
      try rows.save(
        contexts.map {
          ActivityState(
            contextKey: $0, sessionID: rig.session, userID: rig.owner, rev: 2, event: .update,
            contentState: Data(), attributesType: "T", attributes: nil, alertTitle: nil,
            alertBody: nil, staleAt: nil, dismissAt: nil, deadline: Samples.noon,
            causedAt: Samples.noon, traceparent: nil)
        })
    }
    let before = commits.count
    #expect(try rig.push(all: (1...50).map { try rig.job($0, rev: 1) }).count == 50)
    #expect(commits.count - before == 1)
    #expect(try rig.records().count == 50)
  }

  @Test func `a drop whose record cannot be stored stays in hand`() throws {
    try rig.register(1)
    try states(1...1, rev: 7)
    rig.storeSwitch.isAway = true
    #expect(throws: StoreError.self) { try rig.push(rig.job(1, rev: 6)) }
    #expect(rig.sender.inHand == 1)
    rig.storeSwitch.isAway = false
    #expect(try rig.advance() == [.superseded(because: "rev 7 is newer than 6")])
    #expect(rig.sender.inHand == 0)
    #expect(try rig.records().count == 1)
  }

  @Test
  func `a drop that is not recorded is forgotten with its connection, and given up at the end`()
    throws
  {
    try rig.register(1)
    try states(1...1, rev: 7)
    rig.storeSwitch.isAway = true
    #expect(throws: StoreError.self) { try rig.push(rig.job(1, rev: 6)) }
    #expect(rig.sender.giveUpWaiting().map(\.message.id) == [try rig.job(1, rev: 6).id])
    #expect(throws: StoreError.self) { try rig.push(rig.job(1, rev: 6)) }
    rig.sender.forgetWaiting()
    #expect(rig.sender.inHand == 0)
  }

  @Test(arguments: [
    (PushOutcome.status(200), [DeliveryRecord.Consequence.accepted]),
    (.status(410, "Unregistered"), [.pruned]), (.status(400, "BadDeviceToken"), [.pruned]),
    (.status(400, "BadPriority"), [.dead]), (.status(503, "ServiceUnavailable"), [.retried]),
    (.unanswered(because: "reset"), [.again, .again, .retried]),
    (.status(403, "InvalidProviderToken"), [.laneOpened]),
    (.status(403, "ExpiredProviderToken"), [.again, .laneOpened]),
  ])
  func `each attempt's record says what was done about it`(
    outcome: PushOutcome, consequences: [DeliveryRecord.Consequence]
  ) throws {
    try rig.register(1)
    rig.transport.answer = { _ in outcome }
    _ = try rig.push(rig.job(1))
    #expect(try rig.records().map(\.consequence) == consequences)
  }

  @Test func `a token that was registered again meanwhile is recorded as kept`() throws {
    try rig.register(1, at: rig.time.now())
    let diedAt = rig.time.now() - .seconds(1)
    rig.transport.answer = { _ in
      .answered(PushAnswer(status: 410, reason: "Unregistered", timestamp: diedAt))
    }
    _ = try rig.push(rig.job(1))
    #expect(try rig.records().map(\.consequence) == [.kept])
  }

  @Test(arguments: [(Int64(-301), true), (-300, false), (300, false), (301, true)])
  func `a lane that opens for a 403 names a clock that is off`(seconds: Int64, isNamed: Bool) throws
  {
    let lines = LogLines()
    let rig = SenderRig(log: lines.log)
    try rig.register(1)
    let date = rig.time.now() + .seconds(seconds)
    rig.transport.answer = { _ in
      .answered(PushAnswer(status: 403, reason: "InvalidProviderToken", date: date))
    }
    #expect(try rig.push(rig.job(1)).isEmpty)
    let alarm = try #require(lines.all.first { $0.contains("lane open") })
    #expect(alarm.contains("our clock is 5 min") == isNamed, "\(alarm)")
  }
}

/// Counts what a store commits.
private final class CommitCount: Sendable {
  private let commits = Mutex(0)
  var count: Int { commits.withLock { $0 } }

  func store() -> InMemoryStore { InMemoryStore { self.commits.withLock { $0 += 1 } } }
}
