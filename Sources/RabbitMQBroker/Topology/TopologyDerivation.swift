import Pipeline
import Vocabulary

/// Makes the full set of exchanges, queues, bindings and permissions of what queues.yaml declares.
/// The one place that knows the scheme:
///
///     events (topic) ── patterns ──► work queue ◄── key <owner> ── <queue> (direct) ◄─┐ DLX
///        │ alternate                    │ rejected, delivery limit                    │
///        ▼                              ▼                                             │
///     unroutable (fanout)            dead (direct) ── key <stage> ──► dead.<stage>    │
///        └► unroutable               retry.<stage>.<rung> (fanout) ──► same name, TTL ┘
///
/// A rung's copies are `retry.<stage>.<rung>`, `…-b`, `…-c`: one exchange and one queue per TTL
/// variant, so that all messages of one queue live equally long and none waits behind a longer one.
struct TopologyDerivation {
  private let declaration: TopologyDeclaration
  private var problems: [TopologyProblem] = []
  private var exchanges: [Topology.Exchange] = []
  private var queues: [Topology.Queue] = []
  private var bindings: [Topology.Binding] = []
  private var routes: [StageName: StageRoute] = [:]
  /// Where each name was declared first.
  private var exchangeMarks: [String: Mark] = [:]
  private var queueMarks: [String: Mark] = [:]

  static func derive(_ declaration: TopologyDeclaration) -> (Topology, [TopologyProblem]) {
    var derivation = Self(declaration)
    return (derivation.topology(), derivation.problems)
  }

  private init(_ declaration: TopologyDeclaration) { self.declaration = declaration }

  private mutating func topology() -> Topology {
    let (events, unroutable, dead) = (
      declaration.events, declaration.unroutable, declaration.dead
    )
    addExchange(
      events, .topic, arguments: ["alternate-exchange": .text(unroutable.name)])
    addExchange(unroutable, .fanout)
    addQueue(
      unroutable, .unroutable, safeArguments, expectation: declaration.unroutableExpectation)
    bind(unroutable.name, to: unroutable.name, "")
    addExchange(dead, .direct)
    for stage in declaration.stages { add(stage) }
    for queue in declaration.queues { add(queue) }
    return Topology(
      eventsExchange: events.name, exchanges: exchanges, queues: queues, bindings: bindings,
      users: declaration.users.map { user($0) },
      routes: Routes(eventsExchange: events.name, stages: routes))
  }

  /// Of queues that must never lose what they hold: no TTL and no length. A quorum queue has a
  /// delivery limit on 4.x unless it is given one nobody reaches.
  private var safeArguments: [String: HeaderValue] {
    declaration.deadQueueType == "quorum"
      ? ["x-queue-type": "quorum", "x-delivery-limit": 1_000_000]
      : ["x-queue-type": "classic"]
  }

  private mutating func add(_ work: TopologyDeclaration.WorkQueue) {
    let owner = work.owner
    // Leads to this queue alone: what is replayed must not reach the other readers of an event.
    addExchange(work.queue, .direct)
    var arguments = Self.quorum(
      deliveryLimit: work.deliveryLimit, maxLength: work.maxLength,
      deadLetterTo: declaration.dead.name, key: owner.name)
    arguments.merge(work.arguments) { derived, _ in derived }
    addQueue(work.queue, .work(owner: owner.name), arguments, expectation: work.expectation)
    bind(work.queue.name, to: work.queue.name, owner.name)
    for event in work.events { bind(work.queue.name, to: declaration.events.name, event.name) }
    let deadQueue = TopologyDeclaration.Named(name: "dead.\(owner.name)", mark: owner.mark)
    addQueue(
      deadQueue, .dead(owner: owner.name), safeArguments, expectation: declaration.deadExpectation)
    bind(deadQueue.name, to: declaration.dead.name, owner.name)
  }

  private mutating func add(_ stage: TopologyDeclaration.Stage) {
    let (work, key) = (stage.work, stage.work.owner.name)
    add(work)
    var rungs: [RetryLadder.Rung] = []
    for rung in stage.rungs {
      let names = variantNames("retry.\(key).\(rung.name)")
      for (name, factor) in zip(names, declaration.spread) {
        let named = TopologyDeclaration.Named(name: name, mark: rung.mark)
        var arguments = Self.quorum(
          deliveryLimit: work.deliveryLimit, maxLength: work.maxLength,
          deadLetterTo: work.queue.name, key: key)
        let wait_ms = Double(rung.wait.milliseconds) * factor
        arguments["x-message-ttl"] = .integer(Int64(wait_ms.rounded()))
        arguments.merge(rung.arguments) { derived, _ in derived }
        addExchange(named, .fanout)
        addQueue(named, .rung(owner: key, name: rung.name), arguments, expectation: .init())
        bind(name, to: name, "")
      }
      rungs.append(RetryLadder.Rung(name: rung.name, wait: rung.wait, exchanges: names))
    }
    do throws(RetryLadderError) {
      routes[stage.name] = StageRoute(
        stage: stage.name, queue: work.queue.name, exchange: work.queue.name, routingKey: key,
        prefetch: stage.prefetch, ladder: try RetryLadder(rungs: rungs),
        deadExchange: declaration.dead.name, deadRoutingKey: key)
    } catch {
      problems.append(TopologyProblem(work.owner.mark, "\(error)"))
    }
  }

  private static func quorum(
    deliveryLimit: Int, maxLength: Int, deadLetterTo exchange: String, key: String
  ) -> [String: HeaderValue] {
    [
      "x-queue-type": "quorum", "x-delivery-limit": .integer(Int64(deliveryLimit)),
      "x-dead-letter-exchange": .text(exchange), "x-dead-letter-routing-key": .text(key),
      "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
      "x-max-length": .integer(Int64(maxLength)),
    ]
  }

  private func variantNames(_ name: String) -> [String] {
    declaration.spread.indices.map { index in
      index == 0 ? name : name + "-" + String(UnicodeScalar(UInt8(97 + index)))
    }
  }
}

// MARK: Users

extension TopologyDerivation {
  private mutating func user(_ user: TopologyDeclaration.User) -> Topology.User {
    var reads: [String] = []
    var writes: [String] = []
    for work in user.work {
      guard let stage = declaration.stages.first(where: { $0.work.owner.name == work.name }) else {
        refuse(work, "no stage \"\(work.name)\" is declared")
        continue
      }
      reads.append(stage.work.queue.name)
      writes.append(declaration.dead.name)
      writes += stage.rungs.flatMap { variantNames("retry.\(work.name).\($0.name)") }
      for target in stage.sends {
        if let receiver = declaration.stages.first(where: { $0.work.owner.name == target.name }) {
          writes.append(receiver.work.queue.name)
        }
      }
    }
    for queue in user.consume {
      if queueMarks[queue.name] == nil { refuse(queue, "no queue \"\(queue.name)\" is declared") }
      reads.append(queue.name)
    }
    for exchange in user.publish {
      if exchangeMarks[exchange.name] == nil {
        refuse(exchange, "no exchange \"\(exchange.name)\" is declared")
      }
      writes.append(exchange.name)
    }
    for exchange in user.tap {
      if exchangeMarks[exchange.name] == nil {
        refuse(exchange, "no exchange \"\(exchange.name)\" is declared")
      }
      reads.append(exchange.name)
    }
    return Topology.User(
      name: user.name.name, tags: user.tags, configures: user.configures,
      reads: Self.unique(reads), writes: Self.unique(writes), taps: !user.tap.isEmpty)
  }

  private static func unique(_ names: [String]) -> [String] {
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }
  }

  private mutating func refuse(_ named: TopologyDeclaration.Named, _ message: String) {
    problems.append(TopologyProblem(named.mark, message))
  }
}

// MARK: Names

extension TopologyDerivation {
  private mutating func addExchange(
    _ named: TopologyDeclaration.Named, _ kind: Topology.Exchange.Kind,
    arguments: [String: HeaderValue] = [:]
  ) {
    if let first = exchangeMarks[named.name] {
      refuse(named, "exchange \"\(named.name)\" is already made by line \(first.line)")
      return
    }
    exchangeMarks[named.name] = named.mark
    exchanges.append(Topology.Exchange(name: named.name, kind: kind, arguments: arguments))
  }

  private mutating func addQueue(
    _ named: TopologyDeclaration.Named, _ purpose: Topology.Queue.Purpose,
    _ arguments: [String: HeaderValue], expectation: Topology.Expectation
  ) {
    if let first = queueMarks[named.name] {
      refuse(named, "queue \"\(named.name)\" is already made by line \(first.line)")
      return
    }
    queueMarks[named.name] = named.mark
    queues.append(
      Topology.Queue(
        name: named.name, purpose: purpose, arguments: arguments, expectation: expectation))
  }

  private mutating func bind(_ queue: String, to exchange: String, _ key: String) {
    bindings.append(Topology.Binding(exchange: exchange, queue: queue, routingKey: key))
  }
}
