import Pipeline
import Vocabulary

/// A connection to a ``FakeBroker``: a worker's link when it has a queue, else only a publisher.
package final class FakeLink: BrokerLink, Publisher {
  private enum State { case closed, open, cut }

  private let broker: FakeBroker
  private let queue: String?
  private let prefetch: Int
  private var state = State.closed
  private var lastTag: UInt64 = 0
  /// Handed out on this connection and not settled, in order.
  private var unsettled: [(number: UInt64, stored: FakeBroker.Stored)] = []
  private var isReceiving = false
  private var lastSent: UInt64 = 0
  /// Whether the broker reads what is sent now only when the link is next kept alive.
  package var isReadLate: () -> Bool = { false }
  /// Sent, and not read by the broker yet: by one that blocks not before the alarm is over.
  private var unread: [(number: UInt64, message: OutgoingMessage)] = []
  private var answers: [PublishAnswer] = []

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
    lastSent = 0
    unread = []
    answers = []
    isReceiving = queue != nil
    broker.connected(self)
  }

  package func keepAlive() throws(BrokerLost) {
    try check()
    try readUnread()
  }

  package func send(_ messages: [OutgoingMessage]) throws(BrokerLost) -> Range<UInt64> {
    try check()
    guard !broker.isBlocked else { return lastSent + 1..<lastSent + 1 }
    windows.append(messages)
    for message in messages {
      lastSent += 1
      unread.append((lastSent, message))
    }
    if broker.blocksOnPublish {
      broker.blocksOnPublish = false
      broker.isBlocked = true
    }
    if !isReadLate() { try readUnread() }
    return lastSent + 1 - UInt64(messages.count)..<lastSent + 1
  }

  package func takeAnswers() -> [PublishAnswer] {
    defer { answers = [] }
    return answers
  }

  /// A blocked broker reads nothing from a publisher: no confirm comes.
  private func readUnread() throws(BrokerLost) {
    guard !broker.isBlocked else { return }
    defer { unread = [] }
    let outcomes = try stored(unread.map(\.message))
    answers += zip(unread, outcomes).map { PublishAnswer(number: $0.number, outcome: $1) }
  }

  package func publish(_ messages: [OutgoingMessage]) throws(BrokerLost) -> [PublishOutcome] {
    try check()
    // A blocked broker reads nothing from a publisher: no confirm comes.
    if broker.blocksOnPublish {
      broker.blocksOnPublish = false
      broker.isBlocked = true
    }
    if broker.isBlocked { return messages.map { _ in .held(because: "memory") } }
    windows.append(messages)
    return try stored(messages)
  }

  private func stored(_ messages: [OutgoingMessage]) throws(BrokerLost) -> [PublishOutcome] {
    guard !messages.isEmpty else { return [] }
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
