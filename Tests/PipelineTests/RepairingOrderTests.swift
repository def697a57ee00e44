import Foundation
import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct RepairingOrderTests {
  private let slow = SenderRig()

  private func saveState(rev: Int, rings: Bool = false) throws {
    let extras = ActivityState.Extras(alertsOnUpdate: rings)
    let state = ActivityState(
      contextKey: slow.context(1), sessionID: slow.session, userID: slow.owner, rev: rev,
      event: .update, contentState: Data(#"{"rev":\#(rev)}"#.utf8), attributesType: "T",
      attributes: nil, alertTitle: "Order", alertBody: "News", staleAt: nil, dismissAt: nil,
      deadline: slow.time.now() + .seconds(60), causedAt: slow.time.now(), traceparent: nil,
      extras: extras)
    try slow.store.write { try $0.save([state]) }
  }

  @Test func `the newest goes out again when an older push was answered after it`() throws {
    let fast = SenderRig(beside: slow)
    try slow.register(1)
    try saveState(rev: 4)
    slow.transport.answer = { _ in nil }
    #expect(try slow.push(slow.job(1, rev: 4)).isEmpty)
    try saveState(rev: 5)
    #expect(try fast.push(fast.job(1, rev: 5)) == [.done])

    slow.answer(200)
    let settled = try slow.sender.advance()
    let repeated = try #require(settled.first?.outgoing.first)
    let job = try PushJob(reading: repeated.message)
    #expect(job.rev == 5)
    #expect(try fast.push(job) == [.done])
    #expect(fast.transport.requests.count == 2)
  }

  @Test func `in order nothing goes out again`() throws {
    try slow.register(1)
    for rev in 4...5 {
      try saveState(rev: rev)
      let delivery = slow.delivery(try slow.job(1, rev: rev))
      _ = try slow.sender.take([delivery])
      let settled = try slow.sender.advance() + slow.sender.advance()
      #expect(settled.map(\.disposition) == [.done])
      #expect(settled.flatMap(\.outgoing).isEmpty)
    }
  }

  // MARK: Nobody heard of the older one

  private static let wait = "a push of this state that nobody heard of may come yet"

  /// APNs takes what is the newest.
  private func take(rev: Int, rings: Bool = false) throws {
    try saveState(rev: rev, rings: rings)
    #expect(try slow.push(slow.job(1, rev: rev)) == [.done])
  }

  /// One turn of an older state that comes as `delivery`.
  private func settle(_ delivery: Delivery) throws -> Settlement {
    _ = try slow.sender.take([delivery])
    let settled = try slow.sender.advance()
    try #require(settled.count == 1)
    return settled[0]
  }

  private func redelivered(rev: Int) throws -> Delivery {
    let first = slow.delivery(try slow.job(1, rev: rev))
    return Delivery(
      tag: first.tag, message: first.message, exchange: first.exchange,
      routingKey: first.routingKey, redelivered: true)
  }

  /// As it comes back from the ladder after that wait.
  private func waited(rev: Int) throws -> Delivery {
    let second = slow.delivery(try slow.job(1, rev: rev), attempt: 2)
    var message = second.message
    message.headers[RetryHeader.lastError] = .text(Self.wait)
    return Delivery(
      tag: second.tag, message: message, exchange: second.exchange,
      routingKey: second.routingKey, redelivered: false)
  }

  private func expectNewestAgain(_ settled: Settlement, rev: Int) throws {
    let again = try settled.outgoing.map { try PushJob(reading: $0.message) }
    #expect(again.map(\.rev) == [rev])
    #expect(again.map(\.hasAlert) == [false], "it rang when it went out first")
    #expect(try slow.push(all: again) == [.done])
  }

  @Test func `what a sender had that died is followed by the newest, a stamp later`() throws {
    try slow.register(1)
    try take(rev: 5, rings: true)
    let first = try settle(redelivered(rev: 4))
    #expect(first.disposition == .retry(notBefore: .seconds(2), because: Self.wait))
    #expect(first.outgoing.isEmpty)
    try expectNewestAgain(settle(waited(rev: 4)), rev: 5)
    #expect(try settle(waited(rev: 4)).outgoing.map(\.message.type) == ["push.update"])
  }

  @Test func `the same when the newest waits beside it`() throws {
    try slow.register(1)
    try saveState(rev: 5)
    _ = try slow.sender.take([redelivered(rev: 4), slow.delivery(slow.job(1, rev: 5))])
    #expect(
      try slow.advance() == [.retry(notBefore: .seconds(2), because: Self.wait), .done])
  }

  @Test func `the same when no answer came and a newer one took its place`() throws {
    try slow.register(1)
    slow.transport.answer = { _ in nil }
    let older = slow.delivery(try slow.job(1, rev: 4))
    _ = try slow.sender.take([older])
    _ = try slow.sender.advance()
    try saveState(rev: 5)
    _ = try slow.sender.take([slow.delivery(slow.job(1, rev: 5))])
    slow.answer(.unanswered(because: "reset"), .status(200))
    #expect(
      try slow.advance() == [.retry(notBefore: .seconds(2), because: Self.wait), .done])
    try expectNewestAgain(settle(slow.delivery(slow.job(1, rev: 4), attempt: 2)), rev: 5)
  }

  @Test func `what APNs refused, or was never sent, is followed by nothing`() throws {
    try slow.register(1)
    try saveState(rev: 4)
    slow.answer(503, "ServiceUnavailable")
    _ = try slow.push(slow.job(1, rev: 4))
    slow.answer(200)
    try take(rev: 5)
    for attempt in 1...2 {
      let settled = try settle(slow.delivery(slow.job(1, rev: 4), attempt: attempt))
      #expect(settled.disposition.outcome == "superseded")
      #expect(settled.outgoing.isEmpty)
    }
  }

  @Test func `a newer one that is still to go out is stamped later anyway`() throws {
    try slow.register(1)
    try take(rev: 5)
    try saveState(rev: 6)
    #expect(try settle(waited(rev: 4)).outgoing.isEmpty)
  }
}
