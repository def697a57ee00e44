import Pipeline
import Testing

@testable import RabbitMQBroker

@Suite struct ConfirmWindowTests {
  private func window(of ids: [String], nextTag: UInt64 = 1) -> ConfirmWindow {
    var window = ConfirmWindow(nextTag: nextTag)
    for id in ids { window.published(key(id)) }
    return window
  }

  private func key(_ id: String, exchange: String = "apns") -> ConfirmWindow.Key {
    ConfirmWindow.Key(messageID: id, exchange: exchange, routingKey: "apns")
  }

  @Test func `confirms come out of order`() {
    var window = window(of: ["a", "b", "c"])
    window.confirmed(3, multiple: false)
    window.confirmed(1, multiple: false)
    #expect(window.outcomes == [.confirmed, nil, .confirmed])
    #expect(window.outstanding == 1)
    window.confirmed(2, multiple: false)
    #expect(window.outstanding == 0)
  }

  @Test func `one confirm answers all up to its tag and nothing above`() {
    var window = window(of: ["a", "b", "c"])
    window.confirmed(2, multiple: true)
    #expect(window.outcomes == [.confirmed, .confirmed, nil])
    window.confirmed(3, multiple: true)
    #expect(window.outcomes == [.confirmed, .confirmed, .confirmed])
  }

  @Test func `a multiple confirm leaves earlier answers as they are`() {
    var window = window(of: ["a", "b", "c"])
    window.refused(1, multiple: false)
    window.confirmed(3, multiple: true)
    #expect(window.outcomes.map { $0 == .confirmed } == [false, true, true])
    #expect(window.outstanding == 0)
  }

  @Test func `a late confirm below what is answered counts nothing twice`() {
    var window = window(of: ["a", "b", "c"])
    window.confirmed(2, multiple: true)
    window.confirmed(1, multiple: true)
    window.confirmed(2, multiple: false)
    #expect(window.outstanding == 1)
  }

  @Test func `a returned message is returned although the broker confirms it`() {
    var window = window(of: ["a", "b", "c"])
    window.returned(key("b"), because: "312 NO_ROUTE")
    window.confirmed(3, multiple: true)
    #expect(
      window.outcomes == [.confirmed, .returned(because: "312 NO_ROUTE"), .confirmed])
  }

  @Test func `of two copies with one id the exchange tells which came back`() {
    var window = ConfirmWindow(nextTag: 1)
    window.published(key("a", exchange: "apns"))
    window.published(key("a", exchange: "retry"))
    window.returned(key("a", exchange: "retry"), because: "312 NO_ROUTE")
    window.confirmed(2, multiple: true)
    #expect(window.outcomes == [.confirmed, .returned(because: "312 NO_ROUTE")])
  }

  @Test func `of two equal copies both can come back`() {
    var window = window(of: ["a", "a"])
    window.returned(key("a"), because: "312 NO_ROUTE")
    window.returned(key("a"), because: "312 NO_ROUTE")
    window.confirmed(2, multiple: true)
    #expect(window.outcomes.allSatisfy { $0 == .returned(because: "312 NO_ROUTE") })
  }

  @Test func `a refusal can answer several`() {
    var window = window(of: ["a", "b"])
    window.refused(2, multiple: true)
    #expect(
      window.outcomes.allSatisfy { if case .refused = $0 { true } else { false } })
  }

  @Test(arguments: [UInt64(0), 10, 13, UInt64.max])
  func `tags outside of the window mean nothing`(tag: UInt64) {
    var window = window(of: ["a", "b"], nextTag: 11)
    window.confirmed(tag, multiple: false)
    window.refused(tag, multiple: true)
    #expect(window.outstanding == 2)
    #expect(window.nextTag == 13)
  }
}
