import Pipeline
import RabbitMQBroker
import ServiceRuntime
import TestSupport
import Testing

/// A small topology on a virtual host of its own, with a short ladder.
struct TestTopology {
  let broker: BrokerUnderTest
  let address: BrokerAddress
  let topology: Topology

  /// The file that the error tables change.
  static let yaml = """
    events: { exchange: events }
    unroutable: { queue: unroutable, expect: { max-depth: 0 } }
    dead: { exchange: dead, queue-type: classic }
    retry: { spread: [1] }
    work: { delivery-limit: 50, max-length: 10000 }
    stages:
      build: { queue: build, events: ["cooksuggest.session.*"], sends: [apns], rungs: [1h] }
      apns: { queue: apns, prefetch: 50, rungs: [50ms, 100ms, 150ms, 200ms, 250ms, 300ms] }
      notify: { queue: notify, events: ["cooksuggest.session.*"], max-length: 2, rungs: [1h] }
      webpush: { queue: webpush, rungs: [1h] }
      fcm: { queue: fcm, rungs: [1h] }
    """

  init(
    yaml: String = yaml, on broker: BrokerUnderTest? = nil, address: BrokerAddress? = nil
  ) throws {
    self.broker = try broker ?? BrokerUnderTest()
    self.address = try address ?? BrokerAddress(url: self.broker.url)
    topology = try Topology(yaml: yaml)
    try RabbitMQTopology.apply(topology, at: self.address, time: SystemTime())
  }

  func publisher(limits: BrokerLimits = BrokerLimits()) throws -> RabbitMQPublisher {
    let publisher = RabbitMQPublisher(
      address, name: "test", limits: limits, time: SystemTime(), log: .discarding)
    try publisher.open()
    return publisher
  }

  func link(
    _ stage: StageName, prefetch: Int? = nil, limits: BrokerLimits = BrokerLimits()
  ) throws -> RabbitMQLink {
    let route = topology.routes[stage]
    let link = RabbitMQLink(
      address, queue: route.queue, prefetch: prefetch ?? route.prefetch, name: "test",
      limits: limits, time: SystemTime(), log: .discarding)
    try link.open()
    return link
  }

  /// A job for the stage's own exchange.
  func job(_ id: String, for stage: StageName, headers: MessageHeaders = [:], size: Int = 20)
    -> OutgoingMessage
  {
    let route = topology.routes[stage]
    return OutgoingMessage(
      exchange: route.exchange, routingKey: route.routingKey,
      message: Message(
        id: id, type: "push", contentType: "application/json", headers: headers,
        body: .init(repeating: 0x61, count: size)))
  }
}

extension RabbitMQLink {
  /// Sends all and waits for the broker's answers.
  ///
  /// - Returns: them in the order given.
  func publish(_ messages: [OutgoingMessage]) throws(BrokerLost) -> [PublishOutcome] {
    var numbers: [UInt64] = []
    var outcomes: [UInt64: PublishOutcome] = [:]
    while outcomes.count < messages.count {
      numbers += try send(Array(messages[numbers.count...]))
      for answer in takeAnswers() { outcomes[answer.number] = answer.outcome }
      guard outcomes.count < messages.count else { break }
      waitReadable(until: SystemTime().elapsed() + .milliseconds(200))
      try keepAlive()
    }
    return numbers.compactMap { outcomes[$0] }
  }

  /// Takes `count` deliveries, waiting on the descriptors alone, at most `limit`.
  func take(
    _ count: Int, atOnce: Int = 100, within limit: Duration = .seconds(20),
    each: (RabbitMQLink, [Delivery]) throws -> Void = { _, _ in }
  ) throws -> [Delivery] {
    let deadline = SystemTime().elapsed() + limit
    var taken: [Delivery] = []
    while taken.count < count, SystemTime().elapsed() < deadline {
      let some = try receive(atMost: min(atOnce, count - taken.count))
      try each(self, some)
      taken += some
      if some.isEmpty { waitReadable(until: deadline) }
    }
    return taken
  }

  func waitReadable(until deadline: Duration) {
    Poll.wait(
      descriptors.map { ($0, Poll.readable) },
      atMost: max(.zero, deadline - SystemTime().elapsed()))
  }
}

/// Runs `body` until it throws ``BrokerLost``.
///
/// - Returns: the loss and how long it took; nil when there was none within the limit.
func loss(within limit: Duration, _ body: () throws -> Void) throws -> (BrokerLost, Duration)? {
  let start = SystemTime().elapsed()
  while SystemTime().elapsed() < start + limit {
    do {
      try body()
    } catch let lost as BrokerLost {
      return (lost, SystemTime().elapsed() - start)
    }
  }
  return nil
}
