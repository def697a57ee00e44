import Pushes
import Vocabulary

/// Our own headers on a retried or dead message: the truth about its past, since the broker's own
/// are stripped.
package enum RetryHeader {
  /// Attempts made so far, from 1.
  package static let attempt = "x-attempt"
  package static let originExchange = "x-origin-exchange"
  package static let originKey = "x-origin-key"
  package static let originQueue = "x-origin-queue"
  /// Unix milliseconds.
  package static let firstFailedAt = "x-first-failed-at"
  /// Unix milliseconds.
  package static let lastFailedAt = "x-last-failed-at"
  package static let lastError = "x-last-error"
  /// On a parked copy, which counts no attempt: an earlier visit may have sent it, and nobody heard
  /// what became of that.
  package static let mayHaveGoneOut = "x-may-have-gone-out"
  /// How often a person sent it from the dead queue back to where it failed.
  package static let replays = "x-replays"

  /// Longer reasons are cut: a message's headers must fit one frame. In UTF-8 bytes.
  package static let lastErrorBytesMax = 1024

  /// Kept on a copy, these make RabbitMQ up to 3.13 lose it as a cycle, or count against it.
  package static let stripped: Set<String> = [
    "x-death", "x-first-death-exchange", "x-first-death-queue", "x-first-death-reason",
    "x-last-death-exchange", "x-last-death-queue", "x-last-death-reason", "x-delivery-count",
    "x-acquired-count", "CC", "BCC",
  ]
}

extension Message {
  /// A copy that may be published again.
  var withoutBrokerHeaders: Message {
    var copy = self
    copy.headers = headers.filter { !RetryHeader.stripped.contains($0.key) }
    return copy
  }
}

extension Delivery {
  /// Which attempt this is, from 1. A header that somebody else wrote cannot lead out of the range.
  package var attempt: Int {
    let before = message.integer(RetryHeader.attempt) ?? 0
    return Int(min(max(before, 0), Int64(Int32.max))) + 1
  }

  /// A worker that was lost may have sent what it asks for, or one that parked it: nobody heard
  /// what became of that. Earlier attempts are counted by ``attempt``, not told here.
  package var mayHaveGoneOut: Bool {
    redelivered || message.headers[RetryHeader.mayHaveGoneOut] == .flag(true)
  }
}

extension StageRoute {
  /// What is published instead of `delivery` so that it waits on the ladder, or in the dead queue
  /// when it has reached the top.
  ///
  /// `spread`: any number; picks among a rung's exchanges.
  package func retryCopy(
    of delivery: Delivery, notBefore least: Duration, because reason: String, now: UnixTime,
    spread: Int
  ) -> OutgoingMessage {
    guard let rung = ladder.rung(afterAttempts: delivery.attempt, notBefore: least) else {
      let attempts = "\(delivery.attempt) attempts"
      return deadCopy(of: delivery, because: "\(reason), after \(attempts)", now: now)
    }
    let exchange = rung.exchanges[abs(spread % rung.exchanges.count)]
    return OutgoingMessage(
      exchange: exchange, routingKey: routingKey,
      message: failed(delivery, because: reason, now: now))
  }

  /// What is published instead of `delivery` so that it waits without counting an attempt.
  ///
  /// `mayHaveGoneOut`: on this visit; what was known of earlier ones stays known. `spread`: any
  /// number; picks among a rung's exchanges.
  package func parkedCopy(
    of delivery: Delivery, notBefore least: Duration, mayHaveGoneOut: Bool = false, spread: Int
  ) -> OutgoingMessage {
    let rung = ladder.rung(notBefore: least)
    var message = delivery.message.withoutBrokerHeaders
    if mayHaveGoneOut || delivery.mayHaveGoneOut {
      message.headers[RetryHeader.mayHaveGoneOut] = .flag(true)
    }
    return OutgoingMessage(
      exchange: rung.exchanges[abs(spread % rung.exchanges.count)], routingKey: routingKey,
      message: message)
  }

  package func deadCopy(of delivery: Delivery, because reason: String, now: UnixTime)
    -> OutgoingMessage
  {
    OutgoingMessage(
      exchange: deadExchange, routingKey: deadRoutingKey,
      message: failed(delivery, because: reason, now: now))
  }

  private func failed(_ delivery: Delivery, because reason: String, now: UnixTime) -> Message {
    var message = delivery.message.withoutBrokerHeaders
    message.headers[RetryHeader.attempt] = .integer(Int64(delivery.attempt))
    message.headers[RetryHeader.lastFailedAt] = .integer(now.milliseconds)
    message.headers[RetryHeader.lastError] = .text(
      reason.shortened(toBytes: RetryHeader.lastErrorBytesMax))
    let origin: [(String, HeaderValue)] = [
      (RetryHeader.originExchange, .text(delivery.exchange)),
      (RetryHeader.originKey, .text(delivery.routingKey)),
      (RetryHeader.originQueue, .text(queue)),
      (RetryHeader.firstFailedAt, .integer(now.milliseconds)),
    ]
    for (name, value) in origin where message.headers[name] == nil { message.headers[name] = value }
    return message
  }
}
