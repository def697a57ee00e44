import CRabbitMQ
import Cryptography
import Foundation
import Pipeline

/// Listens to the events exchange with a queue of its own, which goes with the connection. Owned by
/// one thread; ``open()`` tries once.
///
/// The queue is bounded and drops its oldest event when it is full: a tap that is too slow misses
/// events, and no publisher is ever refused for it. Its name is `tap.<by chance>`, the only kind
/// that an account with `tap:` in queues.yaml may declare.
package final class RabbitMQTap: EventTap {
  /// Events that the broker holds for a slow tap.
  package static let queueMax = 100_000
  /// Events handed out and not acknowledged.
  package static let prefetch = 1000

  private let address: BrokerAddress
  private let exchange: String
  private let limits: BrokerLimits
  private let time: any TimeSource
  private let queueMax: Int
  private var connection: AMQPConnection?
  /// The newest tag handed out and not yet acknowledged.
  private var newest: UInt64?

  package init(
    _ address: BrokerAddress, exchange: String, limits: BrokerLimits = BrokerLimits(),
    queueMax: Int = RabbitMQTap.queueMax, time: any TimeSource
  ) {
    self.address = address
    self.exchange = exchange
    self.limits = limits
    self.queueMax = queueMax
    self.time = time
  }

  package func open() throws(BrokerLost) {
    guard connection == nil else { return }
    let connection = try AMQPConnection(
      address, name: "lockstep record", limits: limits, time: time)
    let name = "\(Topology.User.tapPrefix)\(UUIDText.random())"
    do throws(CallFailure) {
      try declare(name, on: connection)
      let (queue, source) = (connection.pool.bytes(name), connection.pool.bytes(exchange))
      let all = connection.pool.bytes("#")
      try connection.call {
        amqp_queue_bind($0, AMQPConnection.channel, queue, source, all, amqp_table_t())
      }
      try connection.call {
        amqp_basic_qos($0, AMQPConnection.channel, 0, UInt16(Self.prefetch), 0)
      }
      let consumed = connection.pool.bytes(name)
      try connection.call {
        amqp_basic_consume(
          $0, AMQPConnection.channel, consumed, amqp_bytes_t(), 0, 0, 1, amqp_table_t())
      }
    } catch {
      connection.close()
      throw error.asLost("exchange \(exchange) cannot be tapped")
    }
    newest = nil
    self.connection = connection
  }

  private func declare(_ name: String, on connection: AMQPConnection) throws(CallFailure) {
    let queue = connection.pool.bytes(name)
    let arguments = connection.pool.table([
      "x-max-length": .integer(Int64(queueMax)), "x-overflow": "drop-head",
    ])
    // Not durable, exclusive, deleted with its last consumer.
    try connection.call {
      amqp_queue_declare($0, AMQPConnection.channel, queue, 0, 0, 1, 1, arguments)
    }
  }

  package func receive(within limit: Duration) throws(BrokerLost) -> [Message] {
    var messages: [Message] = []
    try connected { connection throws(BrokerLost) in
      var wait = limit
      while messages.count < Self.prefetch, let event = try connection.next(within: wait) {
        switch event {
        case .delivered(let arrival):
          messages.append(arrival.message)
          newest = arrival.tag
          wait = .zero
        case .consumerCancelled: throw BrokerLost("the tap's queue was deleted")
        case .returned, .confirmed, .refused, .blocked, .unblocked: break
        }
      }
    }
    return messages
  }

  package func acknowledge() throws(BrokerLost) {
    guard let newest else { return }
    try connected { connection throws(BrokerLost) in
      try connection.send { amqp_basic_ack($0, AMQPConnection.channel, newest, 1) }
    }
    self.newest = nil
  }

  package func close() {
    connection?.close()
    connection = nil
  }

  private func connected(_ body: (AMQPConnection) throws(BrokerLost) -> Void) throws(BrokerLost) {
    guard let connection else { throw BrokerLost("not connected") }
    do throws(BrokerLost) {
      try body(connection)
    } catch {
      connection.abandon()
      self.connection = nil
      throw error
    }
  }
}
