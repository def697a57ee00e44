import Pipeline
import TestSupport

/// A broker link of a process that may die, on a connection that may be lost, at any call.
final class MortalLink: BrokerLink, Publisher {
  private let inner: FakeLink
  private let broker: FakeBroker
  private let life: Life
  private let chaos: Chaos
  private let broken: BrokenRule?
  /// Told of each delivery once the broker has taken its acknowledgement.
  private let onAcknowledged: (DeliveryTag) -> Void
  /// Still on their way from the broker.
  private var answers: [PublishAnswer] = []
  /// The numbers of what the broker has taken, and of what it took on the connection before.
  private var heard: Set<UInt64> = []
  private var heardBefore: Set<UInt64> = []

  init(
    _ inner: FakeLink, of broker: FakeBroker, life: Life, chaos: Chaos, broken: BrokenRule?,
    onAcknowledged: @escaping (DeliveryTag) -> Void = { _ in }
  ) {
    self.inner = inner
    self.broker = broker
    self.life = life
    self.chaos = chaos
    self.broken = broken
    self.onAcknowledged = onAcknowledged
    inner.isReadLate = { chaos.strikes(onceIn: 3) }
  }

  var generation: Int { inner.generation }
  var descriptors: [Int32] { [] }
  var isBlocked: Bool { inner.isBlocked }
  var staleTags: [DeliveryTag] { inner.staleTags }

  func close() {
    answers = []
    if broken == .believesAnswersOfLostConnection { heardBefore = heard }
    inner.close()
  }

  func open() throws(BrokerLost) {
    try alive("before open")
    try inner.open()
  }

  func keepAlive() throws(BrokerLost) {
    try connected()
    try inner.keepAlive()
  }

  func stopReceiving() throws(BrokerLost) {
    try connected()
    try inner.stopReceiving()
  }

  func receive(atMost count: Int) throws(BrokerLost) -> [Delivery] {
    try alive("before receive")
    // Often less than there is: others get the rest.
    let count = chaos.strikes(onceIn: 2) ? chaos.number(in: 1...max(1, min(count, 3))) : count
    let deliveries = try inner.receive(atMost: count)
    if broken == .acknowledgesBeforeConfirm { try inner.acknowledge(deliveries.map(\.tag)) }
    try connected()
    return deliveries
  }

  func publish(_ messages: [OutgoingMessage]) throws(BrokerLost) -> [PublishOutcome] {
    try alive("before publish")
    if !inner.isBlocked, chaos.strikes(onceIn: 25) {
      broker.messagesStoredBeforeLoss = chaos.number(in: 0...messages.count)
    }
    defer { broker.messagesStoredBeforeLoss = nil }
    let outcomes = try inner.publish(messages)
    try alive("after publish")
    try connected()
    return broken == .believesRefusedPublishes ? outcomes.map { _ in .confirmed } : outcomes
  }

  func send(_ messages: [OutgoingMessage]) throws(BrokerLost) -> Range<UInt64> {
    try alive("before send")
    if !inner.isBlocked, chaos.strikes(onceIn: 25) {
      broker.messagesStoredBeforeLoss = chaos.number(in: 0...messages.count)
    }
    if !inner.isBlocked, chaos.strikes(onceIn: 60) { broker.blocksOnPublish = true }
    defer {
      broker.messagesStoredBeforeLoss = nil
      broker.blocksOnPublish = false
    }
    let numbers = try inner.send(messages)
    answers += numbers.filter(heardBefore.contains).map {
      PublishAnswer(number: $0, outcome: .confirmed)
    }
    try alive("after send")
    try connected()
    return numbers
  }

  /// Answers come late, some before others.
  func takeAnswers() -> [PublishAnswer] {
    let new = inner.takeAnswers()
    heard.formUnion(new.filter { $0.outcome == .confirmed }.map(\.number))
    answers += new
    if broken == .believesRefusedPublishes {
      answers = answers.map { PublishAnswer(number: $0.number, outcome: .confirmed) }
    }
    if broken == .mistakesAnswers {
      answers = zip(answers, answers.map(\.outcome).reversed()).map {
        PublishAnswer(number: $0.number, outcome: $1)
      }
    }
    guard chaos.isOn, !answers.isEmpty else {
      defer { answers = [] }
      return answers
    }
    answers.shuffle(using: &chaos.random)
    let come = chaos.number(in: 0...answers.count)
    defer { answers.removeFirst(come) }
    return Array(answers.prefix(come))
  }

  func acknowledge(_ tags: [DeliveryTag]) throws(BrokerLost) {
    if broken == .acknowledgesBeforeConfirm { return tags.forEach(onAcknowledged) }
    try alive("before acknowledge")
    let some = chaos.number(in: 0...tags.count)
    for part in [tags.prefix(some), tags.dropFirst(some)] where !part.isEmpty {
      try inner.acknowledge(Array(part))
      part.forEach(onAcknowledged)
      try alive("after acknowledge")
      try connected()
    }
  }

  func handBack(_ tags: [DeliveryTag]) throws(BrokerLost) {
    if broken == .acknowledgesBeforeConfirm { return }
    try alive("before handing back")
    try inner.handBack(tags)
  }

  private func alive(_ moment: String) throws(BrokerLost) {
    do {
      try life.moment(moment)
    } catch {
      inner.close()
      throw BrokerLost("killed")
    }
  }

  private func connected() throws(BrokerLost) {
    guard chaos.strikes(onceIn: 90) else { return }
    chaos.note("\(life.name) loses its connection")
    inner.close()
    throw BrokerLost("connection reset by peer")
  }
}
