import Pipeline
import ServiceRuntime
import Sessions
import TestSupport
import Vocabulary

enum ProcessKind: String, CaseIterable {
  case api, relay, builder, notifier, sender, sweep, webPushSender, fcmSender
}

/// One process of a role, as `lockstep` would start it, on the ports of the simulated world.
final class Process {
  /// How many of each role run at once.
  static let copies: [ProcessKind] = [
    .relay, .relay, .builder, .builder, .notifier, .notifier, .sender, .sender, .sweep, .sweep,
  ]
  /// Besides, where there are browsers and Android phones.
  static let otherCopies: [ProcessKind] = [
    .webPushSender, .webPushSender, .fcmSender, .fcmSender,
  ]
  private static let requestsInFlightMax = 4
  private static let clocksDifferBy_ms = 100

  let kind: ProcessKind
  let life: Life
  private let role: Role
  private let chaos: Chaos

  private enum Role {
    /// What closes its connections to a push service; nil when it has none.
    case worker(Worker, MortalLink, hangUp: (() -> Void)?)
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
    let clock = MachineClock(
      world.clock, behind: .milliseconds(number * 37 % Self.clocksDifferBy_ms))
    switch kind {
    case .api: preconditionFailure("an API process is no loop")
    case .relay:
      let link = world.link(to: nil, life: life) { _ in }
      role = .relay(
        OutboxRelay(
          store: store, publisher: link, eventsExchange: Samples.routes.eventsExchange,
          time: clock, log: .discarding, metrics: Metrics()), link)
    case .sweep:
      role = .sweep(
        ExpirySweep(
          store: store, limits: world.limits, time: clock, log: .discarding,
          metrics: Metrics()))
    case .builder, .notifier, .sender, .webPushSender, .fcmSender:
      let (inner, hangUp) = Self.stage(kind, store, clock, life, world)
      let stage = LedgerStage(
        inner, ledger: world.ledger, broken: world.broken
      ) { settlement in
        func named(_ message: Message) -> String {
          // A browser's keys are by chance, and so is what is named after them.
          let isByChance = message.type.hasPrefix("webpush.")
          return isByChance ? message.type : "\(message.type) \(message.id.prefix(4))"
        }
        let what = "\(named(settlement.delivery.message)) \(settlement.disposition.outcome)"
        let out = settlement.outgoing.map { named($0.message) }.joined(separator: " ")
        chaos.note("\(life.name): \(what) \(out)")
      }
      let link = world.link(to: stage.name, life: life) { stage.acknowledged($0) }
      role = .worker(
        Worker(
          route: Samples.routes[stage.name], link: link, stage: stage, time: clock,
          log: .discarding, metrics: Metrics()), link, hangUp: hangUp)
    }
  }

  private static func stage(
    _ kind: ProcessKind, _ store: any Store, _ clock: MachineClock, _ life: Life, _ world: World
  ) -> (any Stage, hangUp: (() -> Void)?) {
    let pushes = Samples.routes[.apns]
    switch kind {
    case .builder:
      let fcm = world.others == nil ? nil : Samples.routes[.fcm]
      return (PayloadBuilder(store: store, pushes: pushes, fcm: fcm, time: clock), nil)
    case .notifier:
      let notifier = Notifier(
        store: store, pushes: pushes, webPush: world.others == nil ? nil : Keys.webPushOutlet,
        time: clock, metrics: NotificationMetrics(Metrics()))
      return (notifier, nil)
    case .sender:
      let radio = Radio(
        world.airwaves, ledger: world.ledger, life: life, inFlightMax: requestsInFlightMax,
        broken: world.broken)
      let sender = APNsSender(
        store: store, pushes: pushes, transport: radio, bundleID: Samples.bundle,
        time: clock, log: .discarding, metrics: Metrics())
      return (sender, radio.close)
    case .webPushSender:
      let radio = WebPushRadio(
        world.reachedOtherwise, ledger: world.ledger, life: life,
        inFlightMax: requestsInFlightMax)
      let sender = WebPushSender(
        store: store, carrier: radio, keys: Keys.vapid, subject: Keys.vapidSubject,
        services: Keys.pushServices, time: clock, log: .discarding, metrics: Metrics())
      return (sender, radio.close)
    case .fcmSender:
      let radio = FCMRadio(
        world.reachedOtherwise, ledger: world.ledger, life: life,
        inFlightMax: requestsInFlightMax)
      let sender = FCMSender(
        store: store, pushes: Samples.routes[.fcm], carrier: radio, project: "world",
        time: clock, log: .discarding, metrics: Metrics())
      return (sender, radio.close)
    case .api, .relay, .sweep: preconditionFailure("\(kind) works on no queue")
    }
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
    case .worker(_, let link, let hangUp):
      link.close()
      hangUp?()
    case .relay(_, let link): link.close()
    case .sweep: break
    }
  }
}
