import CRabbitMQ
import Foundation
import Pipeline
import ServiceRuntime

/// A connection to publish on: sends persistent, mandatory messages, and says what the broker
/// answered for each. Owned by one thread. ``open()`` tries once.
///
/// Any number of messages may wait for their answers, up to the window; who sends them need not.
final class PublishingChannel {
  /// How many messages are sent between two looks at what the broker says.
  private static let messagesPerLook = 64

  private let address: BrokerAddress
  private let name: String
  private let limits: BrokerLimits
  private let time: any TimeSource
  private let log: Log
  private var connection: AMQPConnection?
  private var window = ConfirmWindow()
  /// When the broker let us publish again: from then on an answer is late, not held back.
  private var unblockedAt: Duration?
  /// The reason, while the broker asked publishers to hold.
  private(set) var blockedBecause: String?

  /// `name` is how the connection is called in the broker's lists.
  init(
    _ address: BrokerAddress, name: String, limits: BrokerLimits, time: any TimeSource, log: Log
  ) {
    self.address = address
    self.name = name
    self.limits = limits
    self.time = time
    self.log = log
  }

  /// Of the open connection; nil without one.
  var descriptor: Int32? { connection?.descriptor }

  /// How many messages wait for their answer.
  var outstanding: Int { window.outstanding }

  func open() throws(BrokerLost) {
    guard connection == nil else { return }
    let connection = try AMQPConnection(address, name: name, limits: limits, time: time)
    do throws(CallFailure) {
      try connection.call { amqp_confirm_select($0, AMQPConnection.channel) }
    } catch {
      throw error.asLost("confirms")
    }
    window = ConfirmWindow()
    unblockedAt = nil
    blockedBecause = nil
    self.connection = connection
  }

  func close() {
    connection?.close()
    connection = nil
    blockedBecause = nil
  }

  /// Ends the connection without a word: after a loss.
  func abandon() {
    connection?.abandon()
    connection = nil
    blockedBecause = nil
  }

  /// Reads what the broker has said so far.
  ///
  /// - Throws: ``BrokerLost``, also when an answer is overdue.
  func keepAlive() throws(BrokerLost) {
    try guarded(for: limits.calling) { connection throws(BrokerLost) in
      try look(connection)
      if let rest = patience, rest <= .zero { throw overdue }
    }
  }

  /// Sends as many as may go now, from the first on: fewer than all while the broker asks to hold,
  /// or once as many wait for their answer as the window holds.
  ///
  /// - Returns: the numbers of those that went, in the order given. They count from 1 on each
  ///   connection.
  func send(_ messages: some Sequence<OutgoingMessage>) throws(BrokerLost) -> Range<UInt64> {
    try guarded(for: limits.confirming + .seconds(2)) { connection throws(BrokerLost) in
      // Reading first also checks the heartbeat: a publish on a link that was silent for too long
      // would hang in librabbitmq 0.11.
      try look(connection)
      let first = window.nextNumber
      try connection.gathering { () throws(BrokerLost) in try sendAll(messages, connection) }
      return first..<window.nextNumber
    }
  }

  private func sendAll(_ messages: some Sequence<OutgoingMessage>, _ connection: AMQPConnection)
    throws(BrokerLost)
  {
    let now = time.elapsed()
    var sinceLook = 0
    for outgoing in messages {
      guard blockedBecause == nil, window.outstanding < limits.window else { return }
      if let reason = outgoing.message.misfit(
        exchange: outgoing.exchange, routingKey: outgoing.routingKey, limits: limits)
      {
        window.unsendable(because: reason)
        continue
      }
      try send(outgoing, connection, at: now)
      sinceLook += 1
      guard sinceLook == Self.messagesPerLook else { continue }
      sinceLook = 0
      try look(connection)
    }
  }

  /// What the broker answered and ``keepAlive()``, ``send(_:)`` or ``wait()`` read: each message
  /// once, in any order.
  func takeAnswers() -> [PublishAnswer] { window.takeAnswers() }

  /// Waits until the broker says something, if an answer is outstanding.
  ///
  /// - Throws: ``BrokerLost``, also when it says nothing in time.
  func wait() throws(BrokerLost) {
    try guarded(for: limits.confirming + .seconds(2)) { connection throws(BrokerLost) in
      guard let rest = patience else { return }
      guard rest > .zero, let event = try connection.next(within: rest) else { throw overdue }
      take(event)
    }
  }

  /// How long the oldest answer may still take; nil when none is outstanding, or an alarm holds
  /// them back: that may last for hours.
  private var patience: Duration? {
    guard blockedBecause == nil, let sentAt = window.oldestSentAt else { return nil }
    return max(sentAt, unblockedAt ?? sentAt) + limits.confirming - time.elapsed()
  }

  private var overdue: BrokerLost {
    BrokerLost("no confirm for \(window.outstanding) messages within \(limits.confirming)")
  }

  private func guarded<Result>(
    for limit: Duration, _ body: (AMQPConnection) throws(BrokerLost) -> Result
  ) throws(BrokerLost) -> Result {
    guard let connection else { throw BrokerLost("not connected") }
    do throws(BrokerLost) {
      return try connection.guarded(for: limit) { () throws(BrokerLost) in try body(connection) }
    } catch {
      abandon()
      throw error
    }
  }

  private func send(
    _ outgoing: OutgoingMessage, _ connection: AMQPConnection, at moment: Duration
  ) throws(BrokerLost) {
    let (message, pool) = (outgoing.message, connection.pool)
    defer { pool.recycle() }
    var properties = pool.properties(of: message)
    let (exchange, key) = (pool.bytes(outgoing.exchange), pool.bytes(outgoing.routingKey))
    window.sent(
      ConfirmWindow.Key(
        messageID: message.id, exchange: outgoing.exchange, routingKey: outgoing.routingKey),
      at: moment)
    try connection.send { state in
      message.body.withUnsafeBytes { body in
        // The library only reads from it.
        let bytes = amqp_bytes_t(
          len: body.count, bytes: UnsafeMutableRawPointer(mutating: body.baseAddress))
        return amqp_basic_publish(
          state, AMQPConnection.channel, exchange, key, 1, 0, &properties, bytes)
      }
    }
  }

  /// Takes everything that the broker has said so far.
  private func look(_ connection: AMQPConnection) throws(BrokerLost) {
    while let event = try connection.next(within: .zero) { take(event) }
  }

  private func take(_ event: BrokerEvent) {
    switch event {
    case .confirmed(let tag, let multiple): window.confirmed(tag, multiple: multiple)
    case .refused(let tag, let multiple): window.refused(tag, multiple: multiple)
    case .returned(let key, let reason): window.returned(key, because: reason)
    case .blocked(let reason):
      blockedBecause = reason
      log.warning("broker.blocked", ["connection": name, "reason": reason])
    case .unblocked:
      blockedBecause = nil
      unblockedAt = time.elapsed()
      log.info("broker.unblocked", ["connection": name])
    case .delivered, .consumerCancelled: break
    }
  }
}
