import Pipeline
import Testing

@testable import RabbitMQBroker

@Suite struct ConfirmWindowTests {
  private func window(of ids: [String]) -> ConfirmWindow {
    var window = ConfirmWindow()
    for id in ids { window.sent(key(id), at: .zero) }
    return window
  }

  private func key(_ id: String, exchange: String = "apns") -> ConfirmWindow.Key {
    ConfirmWindow.Key(messageID: id, exchange: exchange, routingKey: "apns")
  }

  private func answers(_ window: inout ConfirmWindow) -> [UInt64: PublishOutcome] {
    let answers = window.takeAnswers()
    #expect(Set(answers.map(\.number)).count == answers.count, "each once")
    return Dictionary(answers.map { ($0.number, $0.outcome) }) { first, _ in first }
  }

  private let returned = PublishOutcome.returned(because: "312 NO_ROUTE")

  @Test func `confirms come out of order`() {
    var window = window(of: ["a", "b", "c"])
    window.confirmed(3, multiple: false)
    window.confirmed(1, multiple: false)
    #expect(answers(&window) == [1: .confirmed, 3: .confirmed])
    #expect(window.outstanding == 1)
    window.confirmed(2, multiple: false)
    #expect(answers(&window) == [2: .confirmed])
    #expect(window.outstanding == 0)
  }

  @Test func `one confirm answers all up to its tag and nothing above`() {
    var window = window(of: ["a", "b", "c"])
    window.confirmed(2, multiple: true)
    #expect(answers(&window) == [1: .confirmed, 2: .confirmed])
    window.confirmed(3, multiple: true)
    #expect(answers(&window) == [3: .confirmed])
  }

  @Test func `a multiple confirm leaves earlier answers as they are`() {
    var window = window(of: ["a", "b", "c"])
    window.refused(1, multiple: false)
    window.confirmed(3, multiple: true)
    let answers = answers(&window)
    #expect((1...3).map { answers[$0] == .confirmed } == [false, true, true])
    #expect(window.outstanding == 0)
  }

  @Test func `a late confirm below what is answered counts nothing twice`() {
    var window = window(of: ["a", "b", "c"])
    window.confirmed(2, multiple: true)
    window.confirmed(1, multiple: true)
    window.confirmed(2, multiple: false)
    #expect(window.outstanding == 1)
    #expect(answers(&window).count == 2)
  }

  @Test func `a returned message is returned although the broker confirms it`() {
    var window = window(of: ["a", "b", "c"])
    window.returned(key("b"), because: "312 NO_ROUTE")
    window.confirmed(3, multiple: true)
    #expect(answers(&window) == [1: .confirmed, 2: returned, 3: .confirmed])
  }

  @Test func `of two copies with one id the exchange tells which came back`() {
    var window = ConfirmWindow()
    window.sent(key("a", exchange: "apns"), at: .zero)
    window.sent(key("a", exchange: "retry"), at: .zero)
    window.returned(key("a", exchange: "retry"), because: "312 NO_ROUTE")
    window.confirmed(2, multiple: true)
    #expect(answers(&window) == [1: .confirmed, 2: returned])
  }

  @Test func `of two equal copies both can come back`() {
    var window = window(of: ["a", "a"])
    window.returned(key("a"), because: "312 NO_ROUTE")
    window.returned(key("a"), because: "312 NO_ROUTE")
    window.confirmed(2, multiple: true)
    #expect(answers(&window) == [1: returned, 2: returned])
  }

  @Test func `a refusal can answer several`() {
    var window = window(of: ["a", "b"])
    window.refused(2, multiple: true)
    let answers = answers(&window)
    #expect(answers.count == 2)
    #expect(answers.values.allSatisfy { if case .refused = $0 { true } else { false } })
  }

  @Test func `one that cannot be sent has a number, but no tag`() {
    var window = window(of: ["a"])
    window.unsendable(because: "too long")
    window.sent(key("c"), at: .zero)
    window.confirmed(2, multiple: true)
    #expect(
      answers(&window) == [1: .confirmed, 2: .refused(because: "too long"), 3: .confirmed])
    #expect(window.nextNumber == 4)
  }

  @Test(arguments: [UInt64(0), 10, 13, UInt64.max])
  func `tags outside of the window mean nothing`(tag: UInt64) {
    var window = window(of: (1...12).map { "m\($0)" })
    window.confirmed(10, multiple: true)
    _ = window.takeAnswers()
    window.confirmed(tag, multiple: false)
    window.refused(tag, multiple: true)
    #expect(window.outstanding == 2)
    #expect(window.takeAnswers().isEmpty)
  }

  @Test func `over thousands the one that waits longest is known, and each is answered once`() {
    var window = ConfirmWindow()
    var confirmed: UInt64 = 0
    for number in 1...5000 as ClosedRange<UInt64> {
      window.sent(key("m\(number)"), at: .seconds(Int64(number)))
      // Every third confirm answers for all before it.
      guard number % 3 == 0 else { continue }
      window.confirmed(number - 1, multiple: true)
      #expect(window.oldestSentAt == .seconds(Int64(number)))
      confirmed += UInt64(window.takeAnswers().count)
      #expect(confirmed == number - 1)
    }
    window.confirmed(5000, multiple: true)
    #expect(window.oldestSentAt == nil)
    #expect(window.takeAnswers().map(\.number) == [4998, 4999, 5000])
  }
}
