import Foundation
import TestSupport
import Testing

@testable import Pipeline

@Suite struct SendingQueueTests {
  private struct Sending: PlacedSending, Hashable {
    let delivery: Delivery
    let place: String
    let rev: Int

    init(_ place: String, _ rev: Int) {
      let message = Message(id: "\(place)\(rev)", type: "t", contentType: "c", body: Data())
      delivery = Samples.delivery(message)
      self.place = place
      self.rev = rev
    }
  }

  private typealias Queue = SendingQueue<Sending, String>

  private func queue(_ sendings: (String, Int)...) -> Queue {
    var queue = Queue()
    for (place, rev) in sendings { queue.append(Sending(place, rev)) }
    return queue
  }

  private func names(_ sendings: [Sending]) -> [String] { sendings.map(\.delivery.message.id) }

  @Test func `of each place the first is chosen, in order, as many as there is room for`() {
    var queue = queue(("a", 1), ("a", 2), ("b", 1), ("c", 1))
    let none = queue.choose(atMost: 0)
    #expect(none.isEmpty)
    let chosen = queue.choose(atMost: 2)
    #expect(names(chosen) == ["a1", "b1"])
    #expect(names(queue.waiting) == ["a2", "c1"])
  }

  @Test func `a place is busy until what went there is settled`() {
    var queue = queue(("a", 1), ("a", 2), ("b", 1))
    let numbers = queue.choose(atMost: 9).map { queue.send($0) }
    #expect(Set(numbers).count == 2)
    var more = queue.choose(atMost: 9)
    #expect(more.isEmpty)
    let answered = queue.answer(numbers[0], "yes")
    #expect(answered == Sending("a", 1))
    #expect(queue.hasDecided)
    more = queue.choose(atMost: 9)
    #expect(more.isEmpty, "answered, and not stored yet")
    queue.settled(again: [])
    more = queue.choose(atMost: 9)
    #expect(names(more) == ["a2"])
    #expect(queue.count == 1, "b1 has no answer")
  }

  @Test func `an answer counts once`() {
    var queue = queue(("a", 1))
    let number = queue.choose(atMost: 1).map { queue.send($0) }[0]
    let answers = [queue.answer(number, "yes"), queue.answer(number, "no")]
    #expect(answers == [Sending("a", 1), nil])
    #expect(queue.answered.map(\.answer) == ["yes"])
  }

  @Test func `what goes again, and what did not go, comes first`() {
    var queue = queue(("a", 1), ("b", 1), ("c", 1))
    let chosen = queue.choose(atMost: 2)
    queue.putBack(chosen)
    #expect(names(queue.waiting) == ["a1", "b1", "c1"])
    let number = queue.choose(atMost: 1).map { queue.send($0) }[0]
    queue.answer(number, "again")
    queue.settled(again: [Sending("a", 1)])
    #expect(names(queue.waiting) == ["a1", "b1", "c1"])
    #expect(!queue.hasDecided)
  }

  @Test func `of what waits for one place the newest stays, and one of the same rev too`() {
    var queue = queue(("a", 2), ("b", 1), ("a", 3), ("a", 1), ("a", 3))
    queue.dropOutdone(by: \.rev)
    #expect(names(queue.waiting) == ["b1", "a3", "a3"])
    #expect(names(queue.dropped.map(\.sending)) == ["a2", "a1"])
    #expect(
      queue.dropped.map(\.disposition) == [
        .superseded(because: "rev 3 waits beside 2"), .superseded(because: "rev 3 waits beside 1"),
      ])
    #expect(queue.count == 5)
  }

  @Test func `all but the first are taken out`() {
    var queue = queue(("a", 1), ("b", 1), ("c", 1))
    let rest = queue.takeOut(butFirst: 1)
    #expect(names(rest) == ["b1", "c1"])
    #expect(names(queue.waiting) == ["a1"])
    let more = queue.takeOut(butFirst: 4)
    #expect(more.isEmpty)
  }

  @Test func `given up is what has not gone out, dropped ones included`() {
    var queue = queue(("a", 1), ("b", 1), ("c", 1), ("d", 1))
    let number = queue.choose(atMost: 1).map { queue.send($0) }[0]
    queue.drop(queue.choose(atMost: 1)[0], .expired)
    let given = queue.giveUp()
    #expect(given.map(\.message.id) == ["c1", "d1", "b1"])
    #expect(queue.count == 1)
    queue.answer(number, "yes")
    #expect(queue.answered.count == 1)
  }
}
