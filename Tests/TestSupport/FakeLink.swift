import Pipeline
import Vocabulary

/// A connection to a ``FakeBroker``: a worker's link when it has a queue, else only a publisher.
package final class FakeLink: BrokerLink {
  private enum State { case closed, open, cut }

  private let broker: FakeBroker
  private let queue: String?
  private let prefetch: Int
  private var state = State.closed
  private var lastTag: UInt64 = 0
  /// Handed out on this connection and not settled, in order.
  private var unsettled: [(number: UInt64, stored: FakeBroker.Stored)] = []
  private var isReceiving = false

  package private(set) var generation = 0
  /// Tags of earlier connections that somebody tried to settle on this one: dropped, and counted.
  package private(set) var staleTags: [DeliveryTag] = []
  /// Windows published, in order.
  package private(set) var windows: [[OutgoingMessage]] = []

  init(broker: FakeBroker, queue: String?, prefetch: Int) {
    self.broker = broker
    self.queue = queue
    self.prefetch = prefetch
  }

  package var descriptors: [Int32] { [] }
  package var isBlocked: Bool { state == .open && broker.isBlocked }
  /// Delivered and not settled.
  package var unsettledCount: Int { unsettled.count }

  package func open() throws(BrokerLost) {
    guard state == .closed else { return }
    guard !broker.isDown else { throw BrokerLost("connection refused") }
    state = .open
    generation += 1
    lastTag = 0
    isReceiving = queue != nil
    broker.connected(self)
  }

  package func keepAlive() throws(BrokerLost) { try check() }

  package func publish(_ messages: [OutgoingMessage]) throws(BrokerLost) -> [PublishOutcome] {
    try check()
    // A blocked broker reads nothing from a publisher: no confirm comes.
    if broker.blocksOnPublish {
      broker.blocksOnPublish = false
      broker.isBlocked = true
    }
    if broker.isBlocked { return messages.map { _ in .held(because: "memory") } }
    windows.append(messages)
    var outcomes: [PublishOutcome] = []
    for message in messages {
      if let left = broker.messagesStoredBeforeLoss {
        if left == 0 { throw lostWhilePublishing() }
        broker.messagesStoredBeforeLoss = left - 1
      }
      do {
        outcomes.append(try broker.publish(message))
      } catch {
        throw lost(error.reason)
      }
    }
    if broker.messagesStoredBeforeLoss != nil { throw lostWhilePublishing() }
    return outcomes
  }

  package func receive(atMost count: Int) throws(BrokerLost) -> [Delivery] {
    try check()
    guard let queue, isReceiving else { return [] }
    let room = min(count, prefetch - unsettled.count)
    guard room > 0 else { return [] }
    return broker.take(from: queue, atMost: room).map { stored in
      lastTag += 1
      unsettled.append((lastTag, stored))
      return Delivery(
        tag: DeliveryTag(generation: generation, number: lastTag), message: stored.message,
        exchange: stored.exchange, routingKey: stored.routingKey, redelivered: stored.redelivered)
    }
  }

  package func acknowledge(_ tags: [DeliveryTag]) throws(BrokerLost) {
    _ = try settled(tags)
  }

  package func handBack(_ tags: [DeliveryTag]) throws(BrokerLost) {
    let returned = try settled(tags)
    if let queue { broker.giveBack(returned, to: queue) }
  }

  private func settled(_ tags: [DeliveryTag]) throws(BrokerLost) -> [FakeBroker.Stored] {
    try check()
    var settled: [FakeBroker.Stored] = []
    for tag in tags {
      guard tag.generation == generation else {
        staleTags.append(tag)
        continue
      }
      guard let place = unsettled.firstIndex(where: { $0.number == tag.number }) else {
        broker.violations.append("tag \(tag.number) was settled twice or never delivered")
        throw lost("406 unknown delivery tag \(tag.number)")
      }
      settled.append(unsettled.remove(at: place).stored)
    }
    return settled
  }

  package func stopReceiving() throws(BrokerLost) {
    try check()
    isReceiving = false
  }

  package func close() {
    giveBackUnsettled()
    broker.disconnected(self)
    state = .closed
  }

  // MARK: Losing the connection

  /// The broker notices first; the client learns of it with its next call.
  func cut() {
    guard state == .open else { return }
    giveBackUnsettled()
    state = .cut
  }

  private func check() throws(BrokerLost) {
    switch state {
    case .open: return
    case .closed: throw BrokerLost("not connected")
    case .cut: throw BrokerLost("connection reset by peer")
    }
  }

  private func lost(_ reason: String) -> BrokerLost {
    cut()
    broker.disconnected(self)
    return BrokerLost(reason)
  }

  private func lostWhilePublishing() -> BrokerLost {
    broker.messagesStoredBeforeLoss = nil
    return lost("connection reset by peer")
  }

  private func giveBackUnsettled() {
    if let queue, !unsettled.isEmpty { broker.giveBack(unsettled.map(\.stored), to: queue) }
    unsettled = []
  }
}
