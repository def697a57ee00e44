import CRabbitMQ
import Foundation
import Pipeline
import ServiceRuntime

/// Walks once over the messages of a dead queue, and does with each what it is told.
///
/// Looking harms nothing: messages are held unacknowledged while the walk lasts and are handed back
/// once at its end, in their old order. What is replayed is acknowledged only after its copy was
/// confirmed. Killed at any instant, the broker puts everything held back.
///
/// A classic queue counts no returns. A quorum queue does, up to RabbitMQ 4.2: one per walk,
/// against the limit of a million that queues.yaml gives dead queues.
package final class DeadQueueWalk {
  /// Messages held at once at most: what AMQP's prefetch can say.
  package static let heldMax = 65_535
  /// Copies published in one window.
  static let windowMax = 200
  /// The wait for the next message before the walk is over: others may hold the rest.
  static let idle = Duration.seconds(2)

  /// What is done with one message.
  package enum Verdict: Hashable, Sendable {
    case keep
    /// Published again, then gone from here.
    case replay(OutgoingMessage)
    case drop
  }

  package struct Report: Hashable, Sendable {
    /// Ready when the walk began.
    package var depth = 0
    package var seen = 0
    package var replayed = 0
    package var dropped = 0
    /// Could not be published again, and stay.
    package var refused = 0
    /// Why the first of these was refused.
    package var refusal: String?

    package init() {}
  }

  private let address: BrokerAddress
  private let limits: BrokerLimits
  private let time: any TimeSource
  private let publisher: RabbitMQPublisher

  package init(
    _ address: BrokerAddress, limits: BrokerLimits = BrokerLimits(), time: any TimeSource, log: Log
  ) {
    self.address = address
    self.limits = limits
    self.time = time
    publisher = RabbitMQPublisher(
      address, name: "lockstep dead out", limits: limits, time: time, log: log)
  }

  package func close() { publisher.close() }

  /// Looks at the oldest messages of `queue`, at most `limit` of them, 1 to ``heldMax``.
  ///
  /// - Throws: ``BrokerLost``, or what `decide` threw; everything not acknowledged is back then.
  package func walk(
    _ queue: String, atMost limit: Int, decide: (DeadLetter) throws -> Verdict
  ) throws -> Report {
    precondition((1...Self.heldMax).contains(limit), "the limit is \(limit)")
    let holding = try Holding(queue, address, limits: limits, time: time)
    do {
      let report = try walk(holding, atMost: limit, decide)
      try holding.handBack()
      return report
    } catch {
      // A lost connection has handed everything back already.
      try? holding.handBack()
      throw error
    }
  }

  private func walk(
    _ holding: Holding, atMost limit: Int, _ decide: (DeadLetter) throws -> Verdict
  ) throws -> Report {
    var report = Report()
    report.depth = try holding.depth()
    let count = min(report.depth, limit)
    guard count > 0 else { return report }
    try holding.begin(prefetch: count)
    var replays: [(tag: UInt64, copy: OutgoingMessage)] = []
    var drops: [UInt64] = []
    while report.seen < count {
      guard let (tag, letter) = try holding.next(within: Self.idle) else { break }
      report.seen += 1
      switch try decide(letter) {
      case .keep: break
      case .drop: drops.append(tag)
      case .replay(let copy): replays.append((tag, copy))
      }
      if report.seen.isMultiple(of: Self.windowMax) {
        try flush(&replays, &drops, holding, &report)
      }
    }
    try flush(&replays, &drops, holding, &report)
    return report
  }

  private func flush(
    _ replays: inout [(tag: UInt64, copy: OutgoingMessage)], _ drops: inout [UInt64],
    _ holding: Holding, _ report: inout Report
  ) throws {
    var settled = drops
    if !replays.isEmpty {
      try publisher.open()
      for (replay, outcome) in zip(replays, try publisher.publish(replays.map(\.copy))) {
        switch outcome {
        case .confirmed:
          settled.append(replay.tag)
          report.replayed += 1
        case .returned(let reason), .refused(let reason), .held(let reason):
          report.refused += 1
          report.refusal = report.refusal ?? "\(replay.copy.exchange): \(reason)"
        }
      }
    } else if publisher.descriptor != nil {
      try publisher.keepAlive()
    }
    report.dropped += drops.count
    try holding.acknowledge(settled)
    replays = []
    drops = []
  }
}

/// One connection that holds messages of one queue.
private final class Holding {
  /// The longest wait for a queue to have its messages back.
  private static let returning = Duration.seconds(1)

  private let queue: String
  private let connection: AMQPConnection
  private var unsettled = UnsettledTags()
  private var consumerTag: String?

  init(_ queue: String, _ address: BrokerAddress, limits: BrokerLimits, time: any TimeSource)
    throws(BrokerLost)
  {
    self.queue = queue
    connection = try AMQPConnection(address, name: "lockstep dead", limits: limits, time: time)
  }

  private func call(_ body: (amqp_connection_state_t) -> Void) throws(BrokerLost) {
    do throws(CallFailure) {
      try connection.call(body)
    } catch {
      throw error.asLost("queue \(queue)")
    }
  }

  /// How many messages are ready.
  func depth() throws(BrokerLost) -> Int {
    let name = connection.pool.bytes(queue)
    var depth = 0
    try call { state in
      let ok = amqp_queue_declare(
        state, AMQPConnection.channel, name, 1, 0, 0, 0, amqp_table_t())
      if let ok { depth = Int(ok.pointee.message_count) }
    }
    return depth
  }

  func begin(prefetch: Int) throws(BrokerLost) {
    try call { amqp_basic_qos($0, AMQPConnection.channel, 0, UInt16(clamping: prefetch), 0) }
    let name = connection.pool.bytes(queue)
    var tag = ""
    try call { state in
      let ok = amqp_basic_consume(
        state, AMQPConnection.channel, name, amqp_bytes_t(), 0, 0, 0, amqp_table_t())
      if let ok { tag = String(ok.pointee.consumer_tag) }
    }
    consumerTag = tag
  }

  /// - Returns: nil when nothing came within `limit`.
  func next(within limit: Duration) throws(BrokerLost) -> (tag: UInt64, letter: DeadLetter)? {
    while let event = try connection.next(within: limit) {
      switch event {
      case .delivered(let arrival):
        unsettled.delivered(arrival.tag)
        let letter = DeadLetter(
          queue: queue, message: arrival.message, exchange: arrival.exchange,
          routingKey: arrival.routingKey, death: arrival.death)
        return (arrival.tag, letter)
      case .consumerCancelled: throw BrokerLost("queue \(queue) was deleted")
      case .returned, .confirmed, .refused, .blocked, .unblocked: break
      }
    }
    return nil
  }

  func acknowledge(_ tags: [UInt64]) throws(BrokerLost) {
    for settlement in unsettled.settle(tags) {
      try connection.send { state in
        amqp_basic_ack(
          state, AMQPConnection.channel, settlement.tag, settlement.multiple ? 1 : 0)
      }
    }
  }

  /// Gives back everything that is held, once, and ends the connection.
  func handBack() throws(BrokerLost) {
    defer { connection.close() }
    guard let consumerTag else { return }
    self.consumerTag = nil
    let tag = connection.pool.bytes(consumerTag)
    try call { amqp_basic_cancel($0, AMQPConnection.channel, tag) }
    // Tag 0: all that were delivered, those that are still on their way too.
    try connection.send { amqp_basic_nack($0, AMQPConnection.channel, 0, 1, 1) }
    // A quorum queue has them back a moment later; the next look must not find it empty.
    let end = connection.time.elapsed() + Self.returning
    while unsettled.count > 0, try depth() == 0, connection.time.elapsed() < end {
      _ = try connection.next(within: .milliseconds(10))
    }
  }
}
