import Pushes
import Sessions
import TestSupport
import Testing
import Vocabulary

@testable import Pipeline

/// Senders read what others wrote with clocks of their own, and may have read them a while ago.
@Suite struct SenderClockTests {
  private func saveStart(_ rig: SenderRig) throws {
    try rig.register(1, .pushToStart)
    try rig.store.write {
      try $0.save(
        Start(
          sessionID: rig.session, token: Samples.token(1), contextKey: rig.context(1),
          firstAskedAt: rig.time.now()))
    }
  }

  @Test(arguments: [Duration.milliseconds(40), .seconds(10), .seconds(59)])
  func `a start is held against a sender whose clock is behind`(behind: Duration) throws {
    let rig = SenderRig()
    let other = SenderRig(beside: rig, time: ManualTime(rig.time.now() - behind))
    try saveStart(rig)
    rig.transport.answer = { _ in nil }
    #expect(try rig.push(rig.job(1, .start)).isEmpty)
    #expect(
      try other.push(rig.job(1, .start)) == [
        .retry(notBefore: .seconds(5), because: "another sender holds this start")
      ])
    #expect(other.transport.requests.isEmpty)
  }

  @Test func `a hold of before the clock was set back does not last`() throws {
    let rig = SenderRig()
    try saveStart(rig)
    rig.transport.answer = { _ in nil }
    #expect(try rig.push(rig.job(1, .start)).isEmpty)
    let other = SenderRig(beside: rig, time: ManualTime(rig.time.now() - .seconds(3600)))
    other.transport.answer = { _ in nil }
    #expect(try other.push(rig.job(1, .start)).isEmpty)
    #expect(other.transport.requests.count == 1)
  }

  @Test func `a start is stamped with the moment after its look, however long that waited`() throws
  {
    let time = ManualTime()
    let rig = SenderRig(
      store: InMemoryStore(repeatsWrites: false) { time.advance(by: .seconds(3)) }, time: time)
    try saveStart(rig)
    let before = time.now()
    #expect(try rig.push(rig.job(1, .start)) == [.done])
    let body = try #require(rig.transport.requests.first?.body)
    #expect(
      try JSONValue(parsing: body)["aps"]?["timestamp"]
        == .integer((before + .seconds(3)).seconds))
  }
}
