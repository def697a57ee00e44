import Foundation
import Pushes
import TestSupport
import Testing
import Vocabulary

@testable import Pipeline

/// A message that nobody answered may have reached FCM, or reach it yet: whatever a phone may show
/// for that is followed by the newest state.
@Suite struct FCMRepairingTests {
  private let rig = FCMRig()

  init() throws { try rig.register(1) }

  private func state(_ rev: Int, _ event: ActivityState.Event = .update) -> ActivityState {
    ActivityState(
      contextKey: rig.context(1), sessionID: rig.session, userID: rig.owner, rev: rev,
      event: event, contentState: Data(#"{"rev":\#(rev)}"#.utf8), attributesType: "Cook",
      attributes: nil, alertTitle: "Dinner?", alertBody: "Now", staleAt: nil, dismissAt: nil,
      deadline: rig.time.now() + .seconds(7200), causedAt: rig.time.now(), traceparent: nil)
  }

  private func know(_ rev: Int, _ event: ActivityState.Event = .update) throws {
    try rig.store.write { try $0.save([state(rev, event)]) }
  }

  /// On an iPhone of the same user.
  private func swipeAway() throws {
    try rig.store.write { rows in
      try rows.save(
        PhoneReport(
          contextKey: rig.context(1), userID: rig.owner, state: .dismissed, rev: 1,
          reportedAt: rig.time.now()))
    }
  }

  /// What the builder makes of a state for this phone.
  private func built(_ rev: Int, _ event: ActivityState.Event = .update) throws -> [FCMJob] {
    try know(rev, event)
    let state = state(rev, event)
    return try rig.store.read { try AndroidKnowledge(of: [state], in: $0).jobs(for: [state]) }
      .map(\.job)
  }

  private func expectNewestAgain(_ settled: [Settlement], rev: Int) throws {
    #expect(settled.count == 1)
    let again = try settled.flatMap(\.outgoing).map { try FCMJob(reading: $0.message) }
    #expect(again.map(\.rev) == [rev])
    #expect(try rig.push(all: again) == [.done])
    #expect(try rig.delivered(1) == rev)
  }

  /// An older state went out, and nobody heard of it; a newer one was taken since.
  private func overtake() throws -> FCMJob {
    let older = try rig.job(1, rev: 1)
    rig.answerAll(.unanswered(because: "reset"))
    #expect(
      try rig.push(older) == [.retry(notBefore: .seconds(5), because: "reset")])
    rig.takeAll()
    try know(2)
    #expect(try rig.push(rig.job(1, rev: 2)) == [.done])
    return older
  }

  @Test func `an older state that nobody answered may lie above the newer one`() throws {
    let older = try overtake()
    try expectNewestAgain(try rig.settle([older], attempt: 2), rev: 2)
  }

  @Test func `the same when it waits beside a newer one that waits too`() throws {
    let older = try overtake()
    try know(3)
    let waiting = [rig.delivery(older, attempt: 2), rig.delivery(try rig.job(1, rev: 3))]
    _ = try rig.sender.take(waiting)
    let settled = try rig.settleMore()
    let again = try settled.flatMap(\.outgoing).map { try FCMJob(reading: $0.message).rev }
    #expect(again == [3])
  }

  @Test func `the same when it was a probe of an open lane, which counts no attempt`() throws {
    rig.answerAll(rig.answer(403, state: "PERMISSION_DENIED"))
    try know(1)
    let older = try rig.job(1, rev: 1)
    #expect(try rig.push(older) == [.park(notBefore: .seconds(15))])
    rig.time.advance(by: .seconds(15))
    rig.answerAll(.unanswered(because: "reset"))
    #expect(
      try rig.push(older) == [.park(notBefore: .seconds(15), mayHaveGoneOut: true)])
    rig.time.advance(by: .seconds(15))
    rig.takeAll()
    try know(2)
    #expect(try rig.push(rig.job(1, rev: 2)) == [.done])
    var parked = older.message
    parked.headers[RetryHeader.mayHaveGoneOut] = .flag(true)
    _ = try rig.sender.take([Samples.delivery(parked, 99, exchange: "fcm", routingKey: "fcm")])
    try expectNewestAgain(try rig.settleMore(), rev: 2)
  }

  // MARK: Another sender had it

  private func takenOver(_ job: FCMJob, waited: Bool = false) -> Delivery {
    let first = rig.delivery(job, attempt: waited ? 2 : 1)
    var message = first.message
    if waited { message.headers[RetryHeader.lastError] = .text(Self.wait) }
    return Delivery(
      tag: first.tag, message: message, exchange: "fcm", routingKey: "fcm", redelivered: !waited)
  }

  private static let wait = "the sender that had this message may be sending it now"

  @Test func `what another sender had is looked at again when it must have come`() throws {
    try know(2)
    #expect(try rig.push(rig.job(1, rev: 2)) == [.done])
    let older = try rig.job(1, rev: 1)
    _ = try rig.sender.take([takenOver(older)])
    let first = try rig.settleMore()
    #expect(first.map(\.disposition) == [.retry(notBefore: .seconds(30), because: Self.wait)])
    #expect(first.flatMap(\.outgoing).isEmpty)
    _ = try rig.sender.take([takenOver(older, waited: true)])
    try expectNewestAgain(try rig.settleMore(), rev: 2)
  }

  @Test func `the same when it was sent once more, and taken`() throws {
    try know(1)
    let older = try rig.job(1, rev: 1)
    _ = try rig.sender.take([takenOver(older)])
    #expect(
      try rig.advance() == [.retry(notBefore: .seconds(30), because: Self.wait)])
    #expect(try rig.delivered(1) == 1)
    try know(2)
    #expect(try rig.push(rig.job(1, rev: 2)) == [.done])
    _ = try rig.sender.take([takenOver(older, waited: true)])
    try expectNewestAgain(try rig.settleMore(), rev: 2)
  }

  @Test func `what never went out is followed by nothing`() throws {
    try know(2)
    #expect(try rig.push(rig.job(1, rev: 2)) == [.done])
    #expect(try rig.settle([rig.job(1, rev: 1)]).flatMap(\.outgoing).isEmpty)
    #expect(try rig.delivered(1) == 2)
  }

  // MARK: Swiped away elsewhere

  @Test func `a start under way when the user swiped it away is followed by what came since`()
    throws
  {
    try know(1)
    rig.carrier.answer = { _ in nil }
    _ = try rig.push(rig.job(1, rev: 1, .start))
    try swipeAway()
    #expect(try built(2).isEmpty, "as far as the builder knows there is no card")
    rig.takeAll()
    try expectNewestAgain(try rig.settleMore(), rev: 2)
  }

  @Test func `a start that nobody answered is not sent again, and its card goes on`() throws {
    try know(1)
    let start = try rig.job(1, rev: 1, .start)
    rig.answerAll(.unanswered(because: "reset"))
    _ = try rig.push(start)
    try swipeAway()
    rig.takeAll()
    #expect(
      try rig.push(start, attempt: 2)
        == [.superseded(because: "the user dismissed this card")])
    let next = try built(2)
    #expect(next.map(\.event) == [.update], "it does not ring")
    #expect(try rig.push(all: next) == [.done])
    #expect(try rig.sent().last == "1 rev 2")
  }

  @Test func `a start that nobody answered goes on ringing until one is taken`() throws {
    try know(1)
    let start = try rig.job(1, rev: 1, .start)
    rig.answerAll(.unanswered(because: "reset"))
    _ = try rig.push(start)
    try know(2)
    rig.takeAll()
    #expect(
      try rig.push(start, attempt: 2)
        == [.superseded(because: "rev 2 is known, this is 1")])
    #expect(try built(3).map(\.event) == [.start])
    try swipeAway()
    #expect(try rig.push(rig.job(1, rev: 3, .start)) == [.done], "it may show rev 1")
  }

  @Test func `what is to go once more is not forgotten when a newer one replaces it`() throws {
    let older = try overtake()
    let settled = try rig.settle([older], attempt: 2)
    try swipeAway()
    let next = try built(3)
    #expect(next.map(\.rev) == [3])
    let again = try settled.flatMap(\.outgoing).map { try FCMJob(reading: $0.message) }
    #expect(try rig.push(all: again) == [.superseded(because: "rev 3 is known, this is 2")])
    #expect(try rig.push(all: next) == [.done])
  }

  @Test func `an end is told to every phone, and nothing follows it`() throws {
    try know(1)
    let start = try rig.job(1, rev: 1, .start)
    rig.answerAll(.unanswered(because: "reset"))
    _ = try rig.push(start)
    try swipeAway()
    rig.takeAll()
    let end = try built(2, .end)
    #expect(try rig.push(all: end) == [.done])
    try expectNewestAgain(try rig.settle([start], attempt: 2), rev: 2)
  }
}
