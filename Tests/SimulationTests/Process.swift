import Pipeline
import ServiceRuntime
import Sessions
import TestSupport
import Vocabulary

enum ProcessKind: String, CaseIterable {
  case api, relay, builder, notifier, sender, sweep
}

/// One process of a role, as `lockstep` would start it, on the ports of the simulated world.
final class Process {
  /// How many of each role run at once.
  static let copies: [ProcessKind] = [
    .relay, .relay, .builder, .builder, .notifier, .notifier, .sender, .sender, .sweep, .sweep,
  ]
  private static let requestsInFlightMax = 4

  let kind: ProcessKind
  let life: Life
  private let role: Role
  private let chaos: Chaos

  private enum Role {
    case worker(Worker, MortalLink, Radio?)
    case relay(OutboxRelay, MortalLink)
    case sweep(ExpirySweep)
  }

  init(_ kind: ProcessKind, number: Int, in world: World) {
    self.kind = kind
    let chaos = world.chaos
    let life = Life(
      "\(kind.rawValue)-\(number)", chaos: chaos,
      // It holds nothing between looking and writing: there somebody must come in between.
      interludesOnceIn: kind == .sweep ? 3 : 12)
    self.chaos = chaos
    self.life = life
    let store = world.store(for: life, kind)
    switch kind {
    case .api: preconditionFailure("an API process is no loop")
    case .relay:
      let link = world.link(to: nil, life: life) { _ in }
      role = .relay(
        OutboxRelay(
          store: store, publisher: link, eventsExchange: Samples.routes.eventsExchange,
          time: world.time, log: .discarding, metrics: Metrics()), link)
    case .sweep:
      role = .sweep(
        ExpirySweep(
          store: store, limits: World.limits, time: world.time, log: .discarding,
          metrics: Metrics()))
    case .builder, .notifier, .sender:
      let radio =
        kind == .sender
        ? Radio(
          world.airwaves, ledger: world.ledger, life: life,
          inFlightMax: Self.requestsInFlightMax, broken: world.broken) : nil
      let stage = LedgerStage(
        Self.stage(kind, store, radio, world), ledger: world.ledger, broken: world.broken
      ) { settlement in
        func named(_ message: Message) -> String { "\(message.type) \(message.id.prefix(4))" }
        let what = "\(named(settlement.delivery.message)) \(settlement.disposition.outcome)"
        let out = settlement.outgoing.map { named($0.message) }.joined(separator: " ")
        chaos.note("\(life.name): \(what) \(out)")
      }
      let link = world.link(to: stage.name, life: life) { stage.acknowledged($0) }
      role = .worker(
        Worker(
          route: Samples.routes[stage.name], link: link, stage: stage, time: world.time,
          log: .discarding, metrics: Metrics()), link, radio)
    }
  }

  private static func stage(
    _ kind: ProcessKind, _ store: any Store, _ radio: Radio?, _ world: World
  ) -> any Stage {
    let pushes = Samples.routes[.apns]
    if let radio {
      return APNsSender(
        store: store, pushes: pushes, transport: radio, bundleID: Samples.bundle,
        time: world.time, log: .discarding, metrics: Metrics())
    }
    return kind == .builder
      ? PayloadBuilder(store: store, pushes: pushes, time: world.time)
      : Notifier(
        store: store, pushes: pushes, time: world.time, metrics: NotificationMetrics(Metrics()))
  }

  /// Deliveries taken and not settled.
  var inHand: Int { if case .worker(let worker, _, _) = role { worker.inHand } else { 0 } }

  /// One turn of its loop, with the loop's own care for what is lost.
  ///
  /// - Returns: whether anything happened.
  func turn() -> Bool {
    act {
      switch role {
      case .worker(let worker, _, _):
        do throws(BrokerLost) {
          return try worker.turn()
        } catch {
          _ = worker.lost(error)
          return true
        }
      case .relay(let relay, let link):
        do {
          return try relay.turn() > 0
        } catch {
          if error is BrokerLost { link.close() }
          return true
        }
      case .sweep(let sweep):
        do {
          return try sweep.turn().due > 0
        } catch {
          return true
        }
      }
    }
  }

  /// SIGTERM: drains, and is over.
  func stop(time: ManualTime) {
    _ = act {
      if case .worker(let worker, _, _) = role {
        worker.drain(grace: .seconds(5)) { time.advance(by: $0) }
      }
      return true
    }
    kill()
  }

  /// SIGKILL between two turns.
  func kill() {
    life.end()
    bury()
  }

  private func act(_ body: () -> Bool) -> Bool {
    guard !life.isBusy, !life.isOver else { return false }
    life.isBusy = true
    let happened = body()
    life.isBusy = false
    if life.isOver { bury() }
    return happened
  }

  /// What the system does when a process ends: its connections are closed.
  private func bury() {
    switch role {
    case .worker(_, let link, let radio):
      link.close()
      radio?.close()
    case .relay(_, let link): link.close()
    case .sweep: break
    }
  }
}
