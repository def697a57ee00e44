import Simulator
import Testing
import Vocabulary

@Suite struct CallQueueTests {
  private func registration(_ token: String, note: String = "") -> OwnedEffect {
    OwnedEffect(
      phoneID: "p",
      call: PhoneCall(
        path: "/api/apns/register", body: ["token": .string(token), "note": .string(note)]))
  }

  private func report(_ rev: Int64) -> OwnedEffect {
    OwnedEffect(
      phoneID: "p",
      call: PhoneCall(
        path: "/api/live-activities/report", body: ["context_key": "c", "rev": .integer(rev)]))
  }

  private func next(_ queue: inout CallQueue, at now: Duration = .zero) -> OwnedEffect? {
    if case .call(let entry) = queue.next(at: now) { entry.effect } else { nil }
  }

  private func wait(_ queue: inout CallQueue, at now: Duration = .zero) -> Duration? {
    if case .wait(let wait) = queue.next(at: now) { wait } else { nil }
  }

  @Test func `calls leave in the order they came`() {
    var queue = CallQueue()
    for token in ["a", "b"] { _ = queue.add(registration(token)) }
    #expect(next(&queue) == registration("a"))
    #expect(next(&queue) == registration("b"))
    #expect(next(&queue) == nil)
    #expect(wait(&queue) == nil)
  }

  @Test func `only the newest report of a card waits`() {
    var queue = CallQueue()
    for rev in 1...3 { _ = queue.add(report(Int64(rev))) }
    #expect(queue.count == 1)
    #expect(next(&queue) == report(3))
    #expect(next(&queue) == nil)
  }

  @Test func `a failed call waits longer each time and lets others pass`() throws {
    var queue = CallQueue()
    _ = queue.add(registration("a"))
    var now = Duration.zero
    for wait in [100, 200, 400, 800, 1600, 3200, 5000, 5000] {
      guard case .call(let entry) = queue.next(at: now) else {
        Issue.record("nothing due after \(now)")
        return
      }
      queue.putBack(entry, at: now)
      #expect(self.wait(&queue, at: now) == .milliseconds(wait))
      #expect(self.wait(&queue, at: now + .milliseconds(wait - 1)) == .milliseconds(1))
      now += .milliseconds(wait)
    }
    _ = queue.add(registration("b"))
    #expect(next(&queue, at: now - .milliseconds(1)) == registration("b"))
    #expect(next(&queue, at: now) == registration("a"))
  }

  @Test func `a newer call takes the place of one that failed`() throws {
    var queue = CallQueue()
    _ = queue.add(report(1))
    guard case .call(let entry) = queue.next(at: .zero) else {
      Issue.record("nothing to do")
      return
    }
    _ = queue.add(report(2))
    queue.putBack(entry, at: .zero)
    #expect(queue.count == 1)
    #expect(next(&queue) == report(2))
  }

  @Test func `the queue holds so many calls and no more`() {
    var queue = CallQueue()
    for number in 0..<CallQueue.callsMax {
      guard queue.add(registration("\(number)")) else {
        Issue.record("refused at \(number)")
        return
      }
    }
    let isTaken = queue.add(registration("one more"))
    #expect(!isTaken)
    let isReplaced = queue.add(registration("7", note: "newer"))
    #expect(isReplaced)
    #expect(queue.count == CallQueue.callsMax)
    _ = queue.next(at: .zero)
    let hasRoom = queue.add(registration("one more"))
    #expect(hasRoom)
  }
}
