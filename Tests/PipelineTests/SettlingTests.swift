import Foundation
import Pipeline
import TestSupport
import Testing
import Vocabulary

@Suite struct RetryLadderTests {
  private static func rung(_ name: String, _ seconds: Int) -> RetryLadder.Rung {
    .init(name: name, wait: .seconds(seconds), exchanges: [name])
  }

  private static func ladder() throws -> RetryLadder {
    try RetryLadder(rungs: [rung("a", 5), rung("b", 30), rung("c", 120)])
  }

  @Test(arguments: [
    (1, 0, "a"), (2, 0, "b"), (3, 0, "c"), (4, 0, nil), (1_000_000, 0, nil),
    (1, 5, "a"), (1, 6, "b"), (1, 30, "b"), (1, 31, "c"), (2, 5, "b"), (1, 9999, "c"),
    (3, 9999, "c"), (4, 9999, nil),
  ])
  func `each attempt waits longer, and never shorter than asked`(
    attempts: Int, notBefore: Int, rung: String?
  ) throws {
    let ladder = try Self.ladder()
    #expect(ladder.rung(afterAttempts: attempts, notBefore: .seconds(notBefore))?.name == rung)
  }

  @Test func `a ladder that does not rise is refused`() {
    #expect(throws: RetryLadderError.empty) { try RetryLadder(rungs: []) }
    #expect(throws: RetryLadderError.notRising(shorter: "a", longer: "b")) {
      try RetryLadder(rungs: [Self.rung("a", 5), Self.rung("b", 5)])
    }
  }
}

@Suite struct RetryCopyTests {
  private let route = Samples.routes[.apns]
  private let noon = Samples.noon

  private func delivery(
    _ headers: MessageHeaders = [:], exchange: String = "apns", key: String = "apns"
  ) -> Delivery {
    Samples.delivery(
      Message(
        id: "m", type: "push.update", contentType: "application/json", headers: headers,
        body: Data("{}".utf8), timestamp: noon), exchange: exchange, routingKey: key)
  }

  private func copy(of delivery: Delivery, _ reason: String = "503", spread: Int = 0)
    -> OutgoingMessage
  {
    route.retryCopy(of: delivery, notBefore: .zero, because: reason, now: noon, spread: spread)
  }

  @Test func `a copy waits on the first rung and leads back to its stage`() {
    let copy = copy(of: delivery(["x-rev": 7]))
    #expect(copy.exchange == "retry.apns.5s")
    #expect(copy.routingKey == "apns")
    #expect(copy.message.id == "m")
    #expect(copy.message.body == Data("{}".utf8))
    #expect(copy.message.integer("x-rev") == 7)
    #expect(copy.message.integer("x-attempt") == 1)
    #expect(copy.message.text("x-last-error") == "503")
    #expect(copy.message.text("x-origin-exchange") == "apns")
    #expect(copy.message.text("x-origin-key") == "apns")
    #expect(copy.message.text("x-origin-queue") == "apns")
    #expect(copy.message.integer("x-first-failed-at") == noon.milliseconds)
  }

  @Test(arguments: [
    "x-death", "x-first-death-queue", "x-first-death-reason", "x-first-death-exchange",
    "x-last-death-queue", "x-last-death-reason", "x-last-death-exchange", "x-delivery-count",
    "x-acquired-count", "CC", "BCC",
  ])
  func `the broker's own headers are not copied`(header: String) {
    #expect(copy(of: delivery([header: "x"])).message.headers[header] == nil)
    let dead = route.deadCopy(of: delivery([header: "x"]), because: "no", now: noon)
    #expect(dead.message.headers[header] == nil)
  }

  @Test func `origin and first failure stay over every hop, the rest is of the last`() {
    let build = Samples.routes[.build]
    var delivery = delivery(exchange: "events", key: "cooksuggest.session.picked")
    var rungs: [String] = []
    for hop in 0..<5 {
      let copy = build.retryCopy(
        of: delivery, notBefore: .zero, because: "error \(hop)",
        now: noon + .seconds(hop), spread: 0)
      rungs.append(copy.exchange)
      #expect(copy.message.text("x-origin-exchange") == "events")
      #expect(copy.message.text("x-origin-key") == "cooksuggest.session.picked")
      #expect(copy.message.integer("x-first-failed-at") == noon.milliseconds)
      #expect(copy.message.integer("x-attempt") == Int64(hop + 1))
      delivery = Samples.delivery(copy.message, exchange: "build", routingKey: "build")
    }
    #expect(
      rungs == ["retry.build.5s", "retry.build.30s", "retry.build.2m", "retry.build.15m", "dead"])
    #expect(delivery.message.text("x-last-error") == "error 4, after 5 attempts")
  }

  @Test(arguments: [(1024, false), (1025, true), (5000, true)])
  func `an error is cut at 1024 bytes`(length: Int, isCut: Bool) {
    let error = copy(of: delivery(), String(repeating: "e", count: length)).message
      .text("x-last-error")
    #expect((error?.utf8.count ?? 0) <= 1024)
    #expect(error?.hasSuffix("…") == isCut)
  }

  @Test func `a rung's exchanges are used in turn, whatever the number`() {
    let used = Set([0, 1, 2, -1, .min, .max].map { copy(of: delivery(), spread: $0).exchange })
    #expect(used == ["retry.apns.5s", "retry.apns.5s-b"])
  }

  @Test(arguments: [false, true])
  func `a parked copy counts no attempt, and tells on whether it may have gone out`(
    mayHaveGoneOut: Bool
  ) {
    let first = route.parkedCopy(
      of: delivery(), notBefore: .zero, mayHaveGoneOut: mayHaveGoneOut, spread: 0)
    let again = delivery(first.message.headers)
    #expect(again.attempt == 1)
    #expect(again.mayHaveGoneOut == mayHaveGoneOut)
    let second = route.parkedCopy(of: again, notBefore: .zero, spread: 0)
    #expect(delivery(second.message.headers).mayHaveGoneOut == mayHaveGoneOut)
  }

  @Test func `what a lost worker had is told on when it is parked`() {
    let first = delivery()
    let taken = Delivery(
      tag: first.tag, message: first.message, exchange: "apns", routingKey: "apns",
      redelivered: true)
    let copy = route.parkedCopy(of: taken, notBefore: .zero, spread: 0)
    #expect(delivery(copy.message.headers).mayHaveGoneOut)
  }

  @Test func `what is dead goes to the stage's dead queue with the reason`() {
    let dead = route.deadCopy(of: delivery(), because: "rev is missing", now: noon)
    #expect(dead.exchange == "dead")
    #expect(dead.routingKey == "apns")
    #expect(dead.message.text("x-last-error") == "rev is missing")
  }

  @Test(arguments: [
    (HeaderValue.integer(2), 3), (.integer(0), 1), (.integer(-5), 1), (.text("2"), 1),
    (.integer(.max), Int(Int32.max) + 1), (.integer(.min), 1),
  ])
  func `an attempt header of any value is a count from 1`(header: HeaderValue, attempt: Int) {
    let delivery = delivery(["x-attempt": header])
    #expect(delivery.attempt == attempt)
    _ = copy(of: delivery)
  }
}
