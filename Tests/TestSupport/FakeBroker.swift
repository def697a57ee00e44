import Foundation
import Pipeline
import Vocabulary

/// RabbitMQ in the process: exchanges, queues, rungs, confirms, acknowledgements and redelivery, no
/// laxer than the real one. Not for several threads.
///
/// What a test does to it is done at once: ``loseConnections()`` cuts every link, and what was not
/// acknowledged stands at the head of its queue again.
package final class FakeBroker {
  /// One message in a queue.
  struct Stored {
    var message: Message
    let exchange: String
    let routingKey: String
    var redelivered = false
    /// How often it came back to the queue: what `x-delivery-limit` is held against.
    var returns = 0
  }

  /// A message that has come back more often than this is dead.
  package static let returnsMax = 50
  /// AMQP short strings: names, types, ids, routing keys.
  private static let shortStringBytesMax = 255

  private struct Rung {
    let wait: Duration
    let stage: StageRoute
    var waiting: [(due: Duration, stored: Stored)] = []
  }

  package let routes: Routes
  private let bindings: [StageName: [String]]
  private let time: ManualTime
  private var queues: [String: [Stored]] = [:]
  private var rungs: [String: Rung] = [:]
  /// In the order they connected, so that a seed decides what comes back first.
  private var links: [FakeLink] = []
  private var unboundExchanges: Set<String> = []

  /// Nobody can connect.
  package var isDown = false { didSet { if isDown { loseConnections() } } }
  /// A memory or disk alarm: publishers are asked to hold, and get no confirm.
  package var isBlocked = false
  /// The alarm strikes with the next publish, before anything is stored.
  package var blocksOnPublish = false
  /// Why a queue would not take a message; nil takes it.
  package var refusal: (OutgoingMessage) -> String? = { _ in nil }
  /// The next publish stores so many messages, then its connection is gone before any confirm.
  package var messagesStoredBeforeLoss: Int?
  /// Called for every message that reaches an exchange.
  package var onPublish: (OutgoingMessage) -> Void = { _ in }
  /// Called for every message that a queue or a rung has taken.
  package var onStored: (OutgoingMessage) -> Void = { _ in }
  /// What RabbitMQ would have closed a channel for; must stay empty.
  package internal(set) var violations: [String] = []

  package init(routes: Routes, bindings: [StageName: [String]], time: ManualTime) {
    self.routes = routes
    self.bindings = bindings
    self.time = time
    for route in routes.stages.values {
      queues[route.queue] = []
      queues["dead.\(route.deadRoutingKey)"] = []
      for rung in route.ladder.rungs {
        for exchange in rung.exchanges { rungs[exchange] = Rung(wait: rung.wait, stage: route) }
      }
    }
    queues["unroutable"] = []
  }

  /// The broker of ``Samples``.
  package convenience init(time: ManualTime) {
    self.init(routes: Samples.routes, bindings: Samples.bindings, time: time)
  }

  package func link(to stage: StageName) -> FakeLink {
    FakeLink(broker: self, queue: routes[stage].queue, prefetch: routes[stage].prefetch)
  }

  package func publisher() -> FakeLink { FakeLink(broker: self, queue: nil, prefetch: 0) }

  // MARK: What a test does and sees

  package func messages(in queue: String) -> [Message] {
    moveDue()
    return (queues[queue] ?? []).map(\.message)
  }

  /// Those waiting on a stage's ladder, by the exchange they were published to.
  package func waiting(on stage: StageName) -> [(exchange: String, message: Message)] {
    moveDue()
    return rungs.sorted { $0.key < $1.key }.filter { $0.value.stage.stage == stage }
      .flatMap { rung in rung.value.waiting.map { (rung.key, $0.stored.message) } }
  }

  /// When the next message leaves a rung; nil when none waits.
  package var nextDue: Duration? { rungs.values.flatMap(\.waiting).map(\.due).min() }

  package func loseConnections() {
    for link in links { link.cut() }
    links = []
  }

  /// Puts a message into a queue as a publisher of any kind would.
  package func put(_ message: Message, into queue: String, exchange: String, key: String) {
    queues[queue, default: []].append(
      Stored(message: message, exchange: exchange, routingKey: key))
  }

  /// Other consumers and lost connections deliver in any order.
  package func shuffle(_ queue: String, using random: inout SeededRandom) {
    queues[queue]?.shuffle(using: &random)
  }

  /// At least once: what was delivered before comes once more.
  package func duplicate(in queue: String, at place: Int) {
    guard let stored = queues[queue], stored.indices.contains(place) else { return }
    var copy = stored[place]
    copy.redelivered = true
    queues[queue]?.append(copy)
  }

  /// Takes away what an exchange leads to.
  package func unbind(_ exchange: String) { unboundExchanges.insert(exchange) }
  package func bind(_ exchange: String) { unboundExchanges.remove(exchange) }

  // MARK: For links

  func connected(_ link: FakeLink) { links.append(link) }
  func disconnected(_ link: FakeLink) { links.removeAll { $0 === link } }

  func take(from queue: String, atMost count: Int) -> [Stored] {
    moveDue()
    let taken = Array((queues[queue] ?? []).prefix(count))
    queues[queue]?.removeFirst(taken.count)
    return taken
  }

  /// Requeues at the head, in the order they were delivered; too often returned is dead.
  func giveBack(_ returned: [Stored], to queue: String) {
    var alive: [Stored] = []
    for var stored in returned {
      stored.redelivered = true
      stored.returns += 1
      if stored.returns > Self.returnsMax {
        queues["dead.\(queue)", default: []].append(stored)
      } else {
        alive.append(stored)
      }
    }
    queues[queue] = alive + (queues[queue] ?? [])
  }

  func publish(_ outgoing: OutgoingMessage) throws(BrokerLost) -> PublishOutcome {
    let names = [
      outgoing.exchange, outgoing.routingKey, outgoing.message.id, outgoing.message.type,
    ]
    if let long = names.first(where: { $0.utf8.count > Self.shortStringBytesMax }) {
      violations.append("a name of \(long.utf8.count) bytes")
      throw BrokerLost("a short string of \(long.utf8.count) bytes")
    }
    onPublish(outgoing)
    var stored = Stored(
      message: outgoing.message, exchange: outgoing.exchange, routingKey: outgoing.routingKey)
    // AMQP carries whole seconds.
    stored.message.timestamp = stored.message.timestamp.map { UnixTime(seconds: $0.seconds) }
    if rungs[outgoing.exchange] != nil {
      return publish(stored, toRung: outgoing)
    }
    guard let targets = targets(of: outgoing) else {
      violations.append("no exchange \(outgoing.exchange)")
      throw BrokerLost("404 no exchange '\(outgoing.exchange)'")
    }
    guard !targets.isEmpty else { return .returned(because: "312 NO_ROUTE") }
    if let reason = refusal(outgoing) { return .refused(because: reason) }
    for queue in targets { queues[queue, default: []].append(stored) }
    onStored(outgoing)
    return .confirmed
  }

  private func publish(_ stored: Stored, toRung outgoing: OutgoingMessage) -> PublishOutcome {
    guard !unboundExchanges.contains(outgoing.exchange), var rung = rungs[outgoing.exchange] else {
      return .returned(because: "312 NO_ROUTE")
    }
    if let reason = refusal(outgoing) { return .refused(because: reason) }
    rung.waiting.append((time.elapsed() + rung.wait, stored))
    rungs[outgoing.exchange] = rung
    onStored(outgoing)
    return .confirmed
  }

  /// Nil for an exchange that does not exist.
  private func targets(of outgoing: OutgoingMessage) -> [String]? {
    let key = outgoing.routingKey
    let isBound = !unboundExchanges.contains(outgoing.exchange)
    if outgoing.exchange == routes.eventsExchange {
      guard isBound else { return [] }
      let taking = stages(boundTo: key).map { routes[$0].queue }.sorted()
      // The alternate exchange takes what no queue is bound to.
      return taking.isEmpty ? ["unroutable"] : taking
    }
    if let route = routes.stages.values.first(where: { $0.exchange == outgoing.exchange }) {
      return isBound && key == route.routingKey ? [route.queue] : []
    }
    if routes.stages.values.contains(where: { $0.deadExchange == outgoing.exchange }) {
      let isKnown = routes.stages.values.contains { $0.deadRoutingKey == key }
      return isBound && isKnown ? ["dead.\(key)"] : []
    }
    return nil
  }

  /// The stages that take events with this key.
  package func stages(boundTo key: String) -> [StageName] {
    StageName.allCases.filter { bindings[$0]?.contains { topic($0, matches: key) } ?? false }
  }

  private func topic(_ pattern: String, matches key: String) -> Bool {
    let wanted = pattern.split(separator: ".")
    let words = key.split(separator: ".")
    return wanted.count == words.count && zip(wanted, words).allSatisfy { $0 == "*" || $0 == $1 }
  }

  /// What has waited long enough goes back to its stage, with the broker's own headers.
  private func moveDue() {
    let now = time.elapsed()
    guard let next = nextDue, next <= now else { return }
    var due: [(due: Duration, stored: Stored, stage: StageRoute)] = []
    for name in rungs.keys.sorted() {
      guard var rung = rungs[name] else { continue }
      due += rung.waiting.filter { $0.due <= now }.map { ($0.due, $0.stored, rung.stage) }
      rung.waiting.removeAll { $0.due <= now }
      rungs[name] = rung
    }
    for (_, stored, stage) in due.sorted(by: { $0.due < $1.due }) {
      var message = stored.message
      message.headers["x-first-death-queue"] = .text(stored.exchange)
      message.headers["x-first-death-reason"] = "expired"
      message.headers["x-first-death-exchange"] = .text(stored.exchange)
      // A direct exchange takes the key it was published with, and drops any other.
      guard stored.routingKey == stage.routingKey else {
        violations.append("a copy with key \(stored.routingKey) left its rung for nowhere")
        continue
      }
      queues[stage.queue, default: []].append(
        Stored(message: message, exchange: stage.exchange, routingKey: stored.routingKey))
    }
  }
}
