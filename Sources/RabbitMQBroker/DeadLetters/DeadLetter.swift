import Foundation
import Pipeline
import Vocabulary

/// One message in a dead queue, or in the one of unroutable events.
package struct DeadLetter: Hashable, Sendable {
  /// The queue it lies in.
  package let queue: String
  package let message: Message
  /// How it came into that queue.
  package let exchange: String
  package let routingKey: String
  /// Set when the broker dead-lettered it, nil when a worker did.
  package let death: BrokerDeath?

  package init(
    queue: String, message: Message, exchange: String, routingKey: String, death: BrokerDeath?
  ) {
    self.queue = queue
    self.message = message
    self.exchange = exchange
    self.routingKey = routingKey
    self.death = death
  }

  /// Why it is here.
  package var reason: String {
    if let death {
      switch death.reason {
      case "delivery_limit": return "returned to queue \(death.queue) too often (delivery limit)"
      case "rejected": return "rejected from queue \(death.queue)"
      case "maxlen": return "queue \(death.queue) was full"
      default: return "\(death.reason) in queue \(death.queue)"
      }
    }
    return message.text(RetryHeader.lastError)
      ?? (exchange.isEmpty ? "no reason given" : "no queue takes \(routingKey) of \(exchange)")
  }

  package var foldedReason: String { FoldedReason.of(reason) }

  /// Attempts made; nil when it was never counted.
  package var attempts: Int? { message.integer(RetryHeader.attempt).map { Int(clamping: $0) } }

  /// How often it was replayed before.
  package var replays: Int { Int(clamping: max(0, message.integer(RetryHeader.replays) ?? 0)) }

  /// The best that is known: when it failed first, was dead-lettered, or was made.
  package var firstFailedAt: UnixTime? {
    message.integer(RetryHeader.firstFailedAt).map { UnixTime(milliseconds: $0) }
      ?? death?.at ?? message.timestamp
  }

  /// The best that is known: when it failed last, was dead-lettered, or was made.
  package var lastFailedAt: UnixTime? {
    death?.at ?? message.integer(RetryHeader.lastFailedAt).map { UnixTime(milliseconds: $0) }
      ?? firstFailedAt
  }
}

// MARK: Replay

extension DeadLetter {
  /// Where it goes back to: the queue it failed in and no other, by that queue's own exchange. What
  /// was never in a queue goes to the exchange that had none for it.
  ///
  /// - Returns: nil when queues.yaml does not know where it came from.
  package func origin(in topology: Topology) -> (exchange: String, routingKey: String)? {
    let named = [message.text(RetryHeader.originQueue), death?.queue].compactMap { $0 }
    for queue in named {
      if let owner = topology.owner(of: queue), let path = topology.path(toOwner: owner) {
        return (path.exchange, path.routingKey)
      }
    }
    guard let here = topology.queue(queue) else { return nil }
    switch here.purpose {
    case .dead(let owner):
      return topology.path(toOwner: owner).map { ($0.exchange, $0.routingKey) }
    case .unroutable:
      // One that was moved here from another queue tells where it first went.
      let first = message.text(RetryHeader.originExchange) ?? exchange
      let key = message.text(RetryHeader.originKey) ?? routingKey
      return topology.exchanges.contains { $0.name == first } ? (first, key) : nil
    case .work, .rung: return nil
    }
  }

  /// The copy that is moved to another queue: it remembers where it came by.
  package var moved: Message {
    var message = message
    let way: [(String, HeaderValue)] = [
      (RetryHeader.originExchange, .text(exchange)), (RetryHeader.originKey, .text(routingKey)),
    ]
    for (name, value) in way where message.headers[name] == nil { message.headers[name] = value }
    return message
  }

  /// The copy that is published: a first attempt again, with one more replay counted.
  package func replay(to origin: (exchange: String, routingKey: String)) -> OutgoingMessage {
    var message = message
    let past = RetryHeader.stripped.union([
      RetryHeader.attempt, RetryHeader.lastError, RetryHeader.lastFailedAt,
    ])
    message.headers = message.headers.filter {
      !past.contains($0.key) && !$0.key.hasPrefix("x-last-death-")
    }
    message.headers[RetryHeader.replays] = .integer(Int64(replays + 1))
    return OutgoingMessage(
      exchange: origin.exchange, routingKey: origin.routingKey, message: message)
  }
}

extension Topology {
  /// Whose work queue or rung this is, by the key in queues.yaml.
  func owner(of queueName: String) -> String? {
    switch queue(queueName)?.purpose {
    case .work(let owner), .rung(let owner, _): owner
    case .dead, .unroutable, nil: nil
    }
  }

  /// The queues whose messages a person looks at: the dead ones, and the unroutable one.
  package var deadQueues: [Queue] {
    queues.filter { queue in
      switch queue.purpose {
      case .dead, .unroutable: true
      case .work, .rung: false
      }
    }
  }
}
