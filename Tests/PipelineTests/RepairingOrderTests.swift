import Foundation
import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct RepairingOrderTests {
  private let slow = SenderRig()

  private func saveState(rev: Int) throws {
    let state = ActivityState(
      contextKey: slow.context(1), sessionID: slow.session, userID: slow.owner, rev: rev,
      event: .update, contentState: Data(#"{"rev":\#(rev)}"#.utf8), attributesType: "T",
      attributes: nil, alertTitle: nil, alertBody: nil, staleAt: nil, dismissAt: nil,
      deadline: slow.time.now() + .seconds(60), causedAt: slow.time.now(), traceparent: nil)
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
}
