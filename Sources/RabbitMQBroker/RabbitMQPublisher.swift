import CRabbitMQ
import Foundation
import Pipeline
import ServiceRuntime

/// Publishes to RabbitMQ, persistent and mandatory, and counts only what the broker confirmed.
/// Owned by one thread. ``open()`` tries once; when to try again is the caller's business.
package final class RabbitMQPublisher: Publisher {
  /// How many messages are sent between two looks at what the broker says.
  private static let messagesPerLook = 64

  private let address: BrokerAddress
  private let name: String
  private let limits: BrokerLimits
  private let time: any TimeSource
  private let log: Log
  private var connection: AMQPConnection?
  private var window = ConfirmWindow(nextTag: 1)
  private var blockedBecause: String?
  /// Sent before the broker held us back, in the window's order; their answers may still come.
  private var held: [OutgoingMessage] = []

  /// `name` is how the connection is called in the broker's lists.
  package init(
    _ address: BrokerAddress, name: String, limits: BrokerLimits = BrokerLimits(),
    time: any TimeSource, log: Log
  ) {
    self.address = address
    self.name = name
    self.limits = limits
    self.time = time
    self.log = log
  }

  package var isBlocked: Bool { blockedBecause != nil }

  /// Of the open connection; nil without one.
  var descriptor: Int32? { connection?.descriptor }

  package func open() throws(BrokerLost) {
    guard connection == nil else { return }
    let connection = try AMQPConnection(address, name: name, limits: limits, time: time)
    do throws(CallFailure) {
      try connection.call { amqp_confirm_select($0, AMQPConnection.channel) }
    } catch {
      throw error.asLost("confirms")
    }
    window = ConfirmWindow(nextTag: 1)
    held = []
    blockedBecause = nil
    self.connection = connection
  }

  package func close() {
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

  package func keepAlive() throws(BrokerLost) {
    try connected { connection throws(BrokerLost) in
      try connection.guarded(for: limits.calling) { () throws(BrokerLost) in
        try look(connection)
      }
    }
  }

  package func publish(_ messages: [OutgoingMessage]) throws(BrokerLost) -> [PublishOutcome] {
    try connected { connection throws(BrokerLost) in
      var known = try connection.guarded(for: limits.confirming + .seconds(2)) {
        () throws(BrokerLost) in
        try answersOfHeld(connection)
      }
      var outcomes: [PublishOutcome] = []
      outcomes.reserveCapacity(messages.count)
      var rest = messages[...]
      while !rest.isEmpty {
        let part = rest.prefix(limits.window)
        rest = rest.dropFirst(limits.window)
        outcomes += try connection.guarded(for: limits.confirming + .seconds(2)) {
          () throws(BrokerLost) in
          try publishWindow(part, &known, connection)
        }
      }
      return outcomes
    }
  }

  private func connected<Result>(_ body: (AMQPConnection) throws(BrokerLost) -> Result)
    throws(BrokerLost) -> Result
  {
    guard let connection else { throw BrokerLost("not connected") }
    do throws(BrokerLost) {
      return try body(connection)
    } catch {
      abandon()
      throw error
    }
  }

  /// What the broker has said about the messages of a window that it held back. Only the next
  /// publish is told: a later message that is equal is another one.
  private func answersOfHeld(_ connection: AMQPConnection) throws(BrokerLost)
    -> [OutgoingMessage: PublishOutcome]
  {
    // Reading first also checks the heartbeat: a publish on a link that was silent for too long
    // would hang in librabbitmq 0.11.
    try look(connection)
    guard !held.isEmpty, blockedBecause == nil else { return [:] }
    try awaitConfirms(connection, until: time.elapsed() + limits.confirming)
    guard window.outstanding == 0 else { return [:] }
    defer { held = [] }
    return Dictionary(zip(held, window.outcomes.compactMap { $0 })) { first, second in
      first == .confirmed ? second : first
    }
  }

  /// `known`: messages that were sent before and are answered for; each answer is given once.
  private func publishWindow(
    _ messages: ArraySlice<OutgoingMessage>, _ known: inout [OutgoingMessage: PublishOutcome],
    _ connection: AMQPConnection
  ) throws(BrokerLost) -> [PublishOutcome] {
    let deadline = time.elapsed() + limits.confirming
    try look(connection)
    if let reason = blockedBecause { return messages.map { _ in .held(because: reason) } }
    window = ConfirmWindow(nextTag: window.nextTag)
    var settled: [Int: PublishOutcome] = [:]
    var sent: [Int] = []
    for place in messages.indices where blockedBecause == nil {
      let outgoing = messages[place]
      let (exchange, key) = (outgoing.exchange, outgoing.routingKey)
      // Asked of an empty one, a dictionary still hashes the whole message.
      if !known.isEmpty, let outcome = known.removeValue(forKey: outgoing) {
        settled[place] = outcome
      } else if let reason = outgoing.message.misfit(
        exchange: exchange, routingKey: key, limits: limits)
      {
        settled[place] = .refused(because: reason)
      } else {
        try send(outgoing, connection)
        sent.append(place)
        if sent.count % Self.messagesPerLook == 0 { try look(connection) }
      }
    }
    try awaitConfirms(connection, until: deadline)
    if window.outstanding > 0 { held = sent.map { messages[$0] } }
    for (place, outcome) in zip(sent, window.outcomes) { settled[place] = outcome }
    let reason = blockedBecause ?? "alarm"
    return messages.indices.map { settled[$0] ?? .held(because: reason) }
  }

  /// Ends early when the broker holds publishers back: that may last for hours.
  private func awaitConfirms(_ connection: AMQPConnection, until deadline: Duration)
    throws(BrokerLost)
  {
    while window.outstanding > 0, blockedBecause == nil {
      let rest = deadline - time.elapsed()
      guard rest > .zero, let event = try connection.next(within: rest) else {
        throw BrokerLost(
          "no confirm for \(window.outstanding) messages within \(limits.confirming)")
      }
      take(event)
    }
  }

  private func send(_ outgoing: OutgoingMessage, _ connection: AMQPConnection) throws(BrokerLost) {
    let (message, pool) = (outgoing.message, connection.pool)
    defer { pool.recycle() }
    var properties = pool.properties(of: message)
    let (exchange, key) = (pool.bytes(outgoing.exchange), pool.bytes(outgoing.routingKey))
    window.published(
      ConfirmWindow.Key(
        messageID: message.id, exchange: outgoing.exchange, routingKey: outgoing.routingKey))
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
      log.info("broker.unblocked", ["connection": name])
    case .delivered, .consumerCancelled: break
    }
  }
}
