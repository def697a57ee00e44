import Foundation
import Pipeline
import TestSupport
import Testing

@Suite struct PublishWindowTests {
  private let wait = PublishWindow.refusedWait

  private func message(_ id: String) -> OutgoingMessage {
    OutgoingMessage(
      exchange: "build", routingKey: "build",
      message: Message(id: id, type: "t", contentType: "c", body: Data()))
  }

  private func settlement(_ number: UInt64, causing ids: [String]) -> Settlement {
    let delivery = Delivery(
      tag: DeliveryTag(generation: 1, number: number), message: message("d\(number)").message,
      exchange: "apns", routingKey: "apns", redelivered: false)
    return Settlement(delivery, .done, outgoing: ids.map(message))
  }

  /// Deliveries 1, 2, … with the messages they cause, all sent and numbered from 1 on.
  private func window(_ caused: [[String]], owing: Bool = false) -> PublishWindow {
    var window = PublishWindow()
    for (place, ids) in caused.enumerated() {
      let settlement = settlement(UInt64(place + 1), causing: ids)
      window.add(settlement, settlement.outgoing, owing: owing)
    }
    let count = window.next(at: .zero).count
    window.sent(1..<UInt64(count + 1))
    return window
  }

  private func confirmed(_ window: inout PublishWindow, _ numbers: UInt64...) -> [String] {
    let answers = numbers.map { PublishAnswer(number: $0, outcome: .confirmed) }
    return window.answered(answers, at: .zero).confirmed.map(\.delivery.message.id)
  }

  private func ids(_ window: inout PublishWindow, at moment: Duration = .zero) -> [String] {
    window.next(at: moment).map(\.message.id)
  }

  @Test func `a delivery comes out with the last confirm of its messages, in any order`() {
    var window = window([["a1", "a2"], ["b"], ["c1", "c2"]])
    #expect(window.count == 3)
    #expect(confirmed(&window, 5) == [])
    #expect(confirmed(&window, 3, 2) == ["d2"])
    #expect(confirmed(&window, 1, 4) == ["d1", "d3"])
    #expect(window.count == 0)
  }

  @Test func `an answer counts once, and one to nothing means nothing`() {
    var window = window([["a1", "a2"]])
    #expect(confirmed(&window, 1, 1, 1) == [])
    #expect(confirmed(&window, 9, 0) == [])
    #expect(confirmed(&window, 2) == ["d1"])
    #expect(confirmed(&window, 2) == [])
  }

  @Test func `what did not go is next, in the same order, before what came later`() {
    var window = PublishWindow()
    let (first, second) = (settlement(1, causing: ["a", "b"]), settlement(2, causing: ["c"]))
    window.add(first, first.outgoing, owing: false)
    #expect(ids(&window) == ["a", "b"])
    window.sent(1..<2)
    window.add(second, second.outgoing, owing: false)
    #expect(ids(&window) == ["b", "c"])
    window.sent(2..<2)
    #expect(ids(&window) == ["b", "c"])
    window.sent(2..<4)
    #expect(ids(&window).isEmpty)
    #expect(confirmed(&window, 3, 1) == ["d2"])
    #expect(window.deliveries.map(\.message.id) == ["d1"])
  }

  @Test func `of a delivery only the refused message is sent again, after its wait`() throws {
    var window = window([["a1", "a2"], ["b"]])
    let answers = [
      PublishAnswer(number: 1, outcome: .refused(because: "full")),
      PublishAnswer(number: 2, outcome: .confirmed), PublishAnswer(number: 3, outcome: .confirmed),
    ]
    let heard = window.answered(answers, at: .seconds(7))
    #expect(heard.confirmed.map(\.delivery.message.id) == ["d2"])
    let refusal = try #require(heard.refused.first)
    #expect(refusal.delivery?.message.id == "d1")
    #expect(refusal.outcome == .refused(because: "full"))
    #expect(ids(&window, at: .seconds(7) + wait - .milliseconds(1)).isEmpty)
    #expect(ids(&window, at: .seconds(7) + wait) == ["a1"])
    window.sent(4..<5)
    #expect(confirmed(&window, 4) == ["d1"])
  }

  @Test func `a lost connection leaves nothing behind of a stage that does the same again`() {
    var window = window([["a1", "a2"], ["b"]])
    _ = confirmed(&window, 1)
    window.lost()
    #expect(window.count == 0)
    #expect(ids(&window).isEmpty)
    // The next connection counts from 1 again.
    let again = settlement(1, causing: ["a1", "a2"])
    window.add(again, again.outgoing, owing: false)
    window.sent(1..<UInt64(window.next(at: .zero).count + 1))
    #expect(confirmed(&window, 3) == [])
    #expect(confirmed(&window, 1, 2) == ["d1"])
  }

  @Test func `what a stage returns only once is kept until it is confirmed, its own copy is not`() {
    var window = window([["a1", "a2"]], owing: true)
    let retried = settlement(2, causing: ["b"])
    window.add(retried, retried.outgoing + [message("copy of d2")], owing: true)
    let answers = [
      PublishAnswer(number: 1, outcome: .confirmed),
      PublishAnswer(number: 2, outcome: .returned(because: "312")),
    ]
    _ = window.answered(answers, at: .zero)
    window.lost()
    #expect(window.count == 2)
    #expect(window.deliveries.isEmpty)
    #expect(ids(&window) == ["a2", "b"])
    window.sent(1..<3)
    let heard = window.answered([PublishAnswer(number: 1, outcome: .confirmed)], at: .zero)
    #expect(heard.confirmed.isEmpty && window.count == 1)
    window.lost()
    #expect(ids(&window) == ["b"], "over any number of connections")
    window.add(owed: [message("late")])
    window.sent(1..<3)
    #expect(confirmed(&window, 2, 1) == [])
    #expect(window.count == 0)
  }
}
