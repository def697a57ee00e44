import Foundation
import Vocabulary

/// What travels through the broker.
package struct Message: Hashable, Sendable {
  /// AMQP `message_id`: the event's id, or the job's `apns-id`. Stays the same on every retry.
  package var id: String
  /// AMQP `type`: the event's type, or the kind of job.
  package var type: String
  package var contentType: String
  package var headers: MessageHeaders
  package var body: Data
  /// AMQP `timestamp`, whole seconds.
  package var timestamp: UnixTime?

  package init(
    id: String, type: String, contentType: String, headers: MessageHeaders = [:],
    body: Data, timestamp: UnixTime? = nil
  ) {
    self.id = id
    self.type = type
    self.contentType = contentType
    self.headers = headers
    self.body = body
    self.timestamp = timestamp
  }
}

package enum HeaderValue: Hashable, Sendable {
  case text(String)
  case integer(Int64)
  case flag(Bool)
}

extension HeaderValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  package init(stringLiteral value: String) { self = .text(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
}

extension Message {
  package func text(_ header: String) -> String? {
    if case .text(let value) = headers[header] { value } else { nil }
  }

  package func integer(_ header: String) -> Int64? {
    if case .integer(let value) = headers[header] { value } else { nil }
  }
}

/// Where and what to publish. Always persistent and mandatory. A class, as ``Delivery``.
package final class OutgoingMessage: Hashable, Sendable {
  package let exchange: String
  package let routingKey: String
  package let message: Message

  package init(exchange: String, routingKey: String, message: Message) {
    self.exchange = exchange
    self.routingKey = routingKey
    self.message = message
  }

  package static func == (left: OutgoingMessage, right: OutgoingMessage) -> Bool {
    left === right
      || left.exchange == right.exchange && left.routingKey == right.routingKey
        && left.message == right.message
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(exchange)
    hasher.combine(message.id)
  }
}

/// One message handed out by the broker, to be settled once.
///
/// A class: it goes through a dozen hands, and to count its strings anew for each copy cost a tenth
/// of a push's whole way.
package final class Delivery: Hashable, Sendable {
  package let tag: DeliveryTag
  package let message: Message
  package let exchange: String
  package let routingKey: String
  package let redelivered: Bool

  package init(
    tag: DeliveryTag, message: Message, exchange: String, routingKey: String, redelivered: Bool
  ) {
    self.tag = tag
    self.message = message
    self.exchange = exchange
    self.routingKey = routingKey
    self.redelivered = redelivered
  }

  package static func == (left: Delivery, right: Delivery) -> Bool {
    left.tag == right.tag && left.message == right.message && left.exchange == right.exchange
      && left.routingKey == right.routingKey && left.redelivered == right.redelivered
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(tag) }
}

/// Belongs to the channel that delivered; on another channel it means another message, so a tag of
/// an earlier generation is never acknowledged.
package struct DeliveryTag: Hashable, Sendable {
  /// Counts the channels of one link, from 1.
  package let generation: Int
  package let number: UInt64

  package init(generation: Int, number: UInt64) {
    self.generation = generation
    self.number = number
  }
}

/// What the broker said about one published message.
package enum PublishOutcome: Hashable, Sendable {
  /// Stored, by the broker's word.
  case confirmed
  /// No queue took it.
  case returned(because: String)
  /// The broker would not store it: a queue is full, or an internal fault.
  case refused(because: String)
  /// The broker holds publishers back (an alarm) and may still store it later. Offered again, once
  /// it no longer does, the same message gets its answer without being sent twice.
  case held(because: String)
}

/// The connection is gone, or never came up. Everything unconfirmed is unknown, everything
/// unacknowledged comes again.
package struct BrokerLost: Error, Hashable, CustomStringConvertible {
  package let reason: String
  package init(_ reason: String) { self.reason = reason }
  package var description: String { reason }
}

/// The broker's word on a message that was sent without waiting for it.
package struct PublishAnswer: Hashable, Sendable {
  /// As ``BrokerLink/send(_:)`` gave it.
  package let number: UInt64
  /// Never ``PublishOutcome/held(because:)``: what was sent waits until an alarm is over.
  package let outcome: PublishOutcome

  package init(number: UInt64, outcome: PublishOutcome) {
    self.number = number
    self.outcome = outcome
  }
}

/// A connection on which messages are published with confirms. Owned by one thread.
package protocol PublishingConnection: AnyObject {
  /// Connects. Does nothing when connected.
  func open() throws(BrokerLost)
  /// Sends and checks heartbeats, reads what the broker says unasked (blocked, unblocked, closed,
  /// its answers to what was sent).
  func keepAlive() throws(BrokerLost)
  /// True while the broker asked publishers to hold (memory or disk alarm).
  var isBlocked: Bool { get }
  func close()
}

/// Publishes and waits for the broker's word.
package protocol Publisher: PublishingConnection {
  /// Publishes all and waits until the broker has answered for each.
  ///
  /// - Returns: one outcome per message, in the order given.
  func publish(_ messages: [OutgoingMessage]) throws(BrokerLost) -> [PublishOutcome]
}

/// One worker's hold on its queue and on the way out: a connection to consume and a connection to
/// publish, so that a broker that blocks publishers still takes acknowledgements. Owned by one
/// thread.
package protocol BrokerLink: PublishingConnection {
  /// Counts the connections made, from 1; 0 before the first.
  var generation: Int { get }
  /// Descriptors that become readable when ``receive(atMost:)`` may have something.
  var descriptors: [Int32] { get }
  /// What has arrived, without waiting. Empty when nothing has.
  func receive(atMost count: Int) throws(BrokerLost) -> [Delivery]
  /// Sends as many of these as may go now, from the first on, and waits for no answer: fewer than
  /// all while the broker asks to hold, or once too many wait for their answer.
  ///
  /// - Returns: the numbers of those that went, in the order given. They count from 1 on each
  ///   connection.
  func send(_ messages: [OutgoingMessage]) throws(BrokerLost) -> Range<UInt64>
  /// What the broker has answered to messages sent on this connection, as far as it was read: each
  /// once, in any order. A connection on which an answer is overdue is lost.
  func takeAnswers() -> [PublishAnswer]
  /// Acknowledges; tags of an earlier generation are dropped without a word to the broker.
  func acknowledge(_ tags: [DeliveryTag]) throws(BrokerLost)
  /// Gives back to the queue, unchanged, for another worker.
  func handBack(_ tags: [DeliveryTag]) throws(BrokerLost)
  /// Stops new deliveries; those already handed out can still be settled.
  func stopReceiving() throws(BrokerLost)
}
