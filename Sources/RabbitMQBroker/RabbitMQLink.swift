import CLinux
import CRabbitMQ
import Foundation
import Glibc
import Pipeline
import ServiceRuntime

/// A worker's hold on its queue in RabbitMQ: one connection to consume, one to publish.
/// Owned by one thread. A loss of either ends both; ``open()`` tries once.
package final class RabbitMQLink: BrokerLink {
  private let address: BrokerAddress
  private let queue: String
  private let prefetch: Int
  private let name: String
  private let limits: BrokerLimits
  private let time: any TimeSource
  private let log: Log
  private let publishing: PublishingChannel
  private var consumer: AMQPConnection?
  private var consumerTag: String?
  package private(set) var generation = 0
  private var unsettled = UnsettledTags()
  /// Came from the broker and not yet handed out; at most `prefetch`.
  private var arrived: [Delivery] = []
  /// An eventfd, readable while `arrived` holds something that the sockets no longer tell of.
  private let leftover: Int32

  /// Reads `queue` with at most `prefetch` deliveries unsettled, 1 to 65535. In the broker's lists
  /// the connections are called `name` with ` in` and ` out`.
  package init(
    _ address: BrokerAddress, queue: String, prefetch: Int, name: String,
    limits: BrokerLimits = BrokerLimits(), time: any TimeSource, log: Log
  ) {
    precondition((1...Int(UInt16.max)).contains(prefetch), "prefetch is \(prefetch)")
    self.address = address
    self.queue = queue
    self.prefetch = prefetch
    self.name = name
    self.limits = limits
    self.time = time
    self.log = log
    publishing = PublishingChannel(
      address, name: "\(name) out", limits: limits, time: time, log: log)
    leftover = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    precondition(leftover >= 0, "no descriptor left for a link")
  }

  deinit { Glibc.close(leftover) }

  package var isBlocked: Bool { publishing.blockedBecause != nil }

  package var descriptors: [Int32] {
    [consumer?.descriptor, publishing.descriptor, leftover].compactMap { $0 }
  }

  package func open() throws(BrokerLost) {
    guard consumer == nil else { return }
    do throws(BrokerLost) {
      try publishing.open()
      try openConsumer()
    } catch {
      abandon()
      throw error
    }
  }

  private func openConsumer() throws(BrokerLost) {
    let consumer = try AMQPConnection(address, name: "\(name) in", limits: limits, time: time)
    consumer.body_bytes_max = limits.body_bytes
    generation += 1
    unsettled = UnsettledTags()
    do throws(CallFailure) {
      try consumer.call {
        amqp_basic_qos($0, AMQPConnection.channel, 0, UInt16(prefetch), 0)
      }
      var tag = ""
      let queueName = consumer.pool.bytes(queue)
      try consumer.call {
        let ok = amqp_basic_consume(
          $0, AMQPConnection.channel, queueName, amqp_bytes_t(), 0, 0, 0, amqp_table_t())
        if let ok { tag = String(ok.pointee.consumer_tag) }
      }
      consumerTag = tag
    } catch {
      throw error.asLost("queue \(queue) cannot be read")
    }
    self.consumer = consumer
  }

  package func close() {
    consumer?.close()
    forgetConsumer()
    publishing.close()
  }

  private func abandon() {
    consumer?.abandon()
    forgetConsumer()
    publishing.abandon()
  }

  private func forgetConsumer() {
    consumer = nil
    consumerTag = nil
    arrived = []
    unsettled = UnsettledTags()
    tellLeftover()
  }

  private func connected<Result>(_ body: (AMQPConnection) throws(BrokerLost) -> Result)
    throws(BrokerLost) -> Result
  {
    guard let consumer else { throw BrokerLost("not connected") }
    do throws(BrokerLost) {
      return try consumer.guarded(for: limits.calling * 2) { () throws(BrokerLost) in
        try body(consumer)
      }
    } catch {
      abandon()
      throw error
    }
  }
}

// MARK: In

extension RabbitMQLink {
  package func receive(atMost count: Int) throws(BrokerLost) -> [Delivery] {
    try keepAlive()
    let taken = Array(arrived.prefix(count))
    arrived.removeFirst(taken.count)
    tellLeftover()
    return taken
  }

  package func keepAlive() throws(BrokerLost) {
    try connected { consumer throws(BrokerLost) in
      while let event = try consumer.next(within: .zero) { try take(event, consumer) }
      try publishing.keepAlive()
    }
    tellLeftover()
  }

  private func take(_ event: BrokerEvent, _ consumer: AMQPConnection) throws(BrokerLost) {
    switch event {
    case .delivered(let arrival):
      if let reason = arrival.misfit(limits) {
        log.error(
          "message too large, the broker moves it to the dead queue",
          ["queue": queue, "message": arrival.message.id, "because": reason])
        return try consumer.send { state in
          amqp_basic_nack(state, AMQPConnection.channel, arrival.tag, 0, 0)
        }
      }
      unsettled.delivered(arrival.tag)
      arrived.append(
        Delivery(
          tag: DeliveryTag(generation: generation, number: arrival.tag), message: arrival.message,
          exchange: arrival.exchange, routingKey: arrival.routingKey,
          redelivered: arrival.redelivered))
    case .consumerCancelled:
      throw BrokerLost("queue \(queue) was deleted, or the broker lost its leader")
    case .returned, .confirmed, .refused, .blocked, .unblocked: break
    }
  }

  private func tellLeftover() {
    var count: UInt64 = 1
    // Both fail with EAGAIN when nothing would change, which is as good.
    if arrived.isEmpty {
      _ = Glibc.read(leftover, &count, 8)
    } else {
      _ = Glibc.write(leftover, &count, 8)
    }
  }

  package func acknowledge(_ tags: [DeliveryTag]) throws(BrokerLost) {
    try settle(tags) { state, call in
      amqp_basic_ack(state, AMQPConnection.channel, call.tag, call.multiple ? 1 : 0)
    }
  }

  package func handBack(_ tags: [DeliveryTag]) throws(BrokerLost) {
    try settle(tags) { state, call in
      amqp_basic_nack(state, AMQPConnection.channel, call.tag, call.multiple ? 1 : 0, 1)
    }
  }

  private func settle(
    _ tags: [DeliveryTag],
    _ send: (amqp_connection_state_t, UnsettledTags.Settlement) -> Int32
  ) throws(BrokerLost) {
    try connected { consumer throws(BrokerLost) in
      let current = tags.lazy.filter { [generation] in $0.generation == generation }
      for call in unsettled.settle(current.map(\.number)) {
        try consumer.send { send($0, call) }
      }
    }
  }

  package func stopReceiving() throws(BrokerLost) {
    guard let consumerTag else { return }
    try connected { consumer throws(BrokerLost) in
      do throws(CallFailure) {
        let tag = consumer.pool.bytes(consumerTag)
        try consumer.call { amqp_basic_cancel($0, AMQPConnection.channel, tag) }
      } catch {
        throw error.asLost("queue \(queue) cannot be left")
      }
    }
    self.consumerTag = nil
  }
}

// MARK: Out

extension RabbitMQLink {
  package func send(_ messages: [OutgoingMessage]) throws(BrokerLost) -> Range<UInt64> {
    guard consumer != nil else { throw BrokerLost("not connected") }
    do throws(BrokerLost) {
      return try publishing.send(messages)
    } catch {
      abandon()
      throw error
    }
  }

  package func takeAnswers() -> [PublishAnswer] { publishing.takeAnswers() }
}
