import APNsTransport
import Activities
import Foundation
import Pipeline
import Pushes
import RabbitMQBroker
import ServiceRuntime

/// A role that works on one stage's queue: what differs between them is the stage.
struct WorkerRole: Sendable {
  static let settingNames =
    RoleProcess.settingNames + StoreWiring.settingNames + BrokerWiring.settingNames + ["PREFETCH"]

  let stage: StageName
  let name: String

  static let payloadBuilder = WorkerRole(stage: .build, name: "payload-builder")
  static let apnsSender = WorkerRole(stage: .apns, name: "apns-sender")
  static let notifier = WorkerRole(stage: .notify, name: "notifier")
  static let webPushSender = WorkerRole(stage: .webpush, name: "webpush-sender")
  static let fcmSender = WorkerRole(stage: .fcm, name: "fcm-sender")

  /// In the order of `lockstep help`.
  static let all = [payloadBuilder, apnsSender, notifier, webPushSender, fcmSender]

  /// What the stages of one process work with.
  struct Equipment: Sendable {
    let store: any Store
    let broker: BrokerWiring
    /// Deliveries in hand; nil: what queues.yaml says.
    let prefetch: Int?
    /// Wanted by the builder.
    var contracts = ContractCatalog.builtIn
    /// Wanted by the sender.
    var apns: APNsWiring?
    /// Wanted by the Web Push sender.
    var webPush: WebPushWiring?
    /// Wanted by the FCM sender.
    var fcm: FCMWiring?
    /// Where the web app lives; nil tells no browser.
    var origin: WebOrigin?
  }

  /// The process of this role alone.
  func run(_ invocation: Invocation) throws {
    var settings = invocation.settings
    let frame = RoleProcess.Settings(reading: &settings, role: name)
    let database = StoreWiring.address(reading: &settings)
    let broker = BrokerWiring(reading: &settings)
    let apns = stage == .apns ? APNsWiring(reading: &settings) : nil
    let webPush = stage == .webpush ? WebPushWiring(reading: &settings) : nil
    let fcm = stage == .fcm ? FCMWiring(reading: &settings) : nil
    let prefetch = Self.prefetch(reading: &settings)
    let contracts =
      stage == .build ? ContractFiles.catalog(reading: &settings) : ContractCatalog.builtIn
    guard settings.problems.isEmpty, let database, let broker else {
      throw Reading.failure(settings)
    }
    let process = try RoleProcess(frame)
    let equipment = Equipment(
      store: try StoreWiring.open(database, metrics: process.metrics), broker: broker,
      prefetch: prefetch, contracts: contracts, apns: apns, webPush: webPush, fcm: fcm)
    let thread = try start(in: process, with: equipment, health: process.health)
    let channels = try apns.map { try $0.startChannels(process, store: equipment.store) }
    try process.runUntilStopped([(name, thread)] + [channels].compactMap(\.self))
  }

  /// Nil: what queues.yaml says.
  static func prefetch(reading settings: inout SettingsReader) -> Int? {
    guard settings.text("PREFETCH") != nil else { return nil }
    return settings.integer("PREFETCH", in: 1...2000, default: 1)
  }

  /// Starts the thread that owns this stage's connections. It tells `health` what it is up to.
  func start(in process: RoleProcess, with equipment: Equipment, health: Health) throws
    -> OwnedThread
  {
    // What cannot be used is found before the thread starts.
    if stage == .apns { _ = try equipment.apns?.makeTransport(process) }
    health.report("broker", trouble: "not connected yet")
    let role = self
    return OwnedThread.start(named: name) {
      guard equipment.broker.isReady(for: role.stage, process: process, health: health) else {
        return
      }
      do {
        try role.work(in: process, with: equipment, health: health)
      } catch {
        process.fail(
          error as? CommandFailure ?? CommandFailure(.software, "\(role.name): \(error)"))
      }
    }
  }

  private func work(in process: RoleProcess, with equipment: Equipment, health: Health) throws {
    var route = equipment.broker.routes[stage]
    if let prefetch = equipment.prefetch { route.prefetch = prefetch }
    let link = RabbitMQLink(
      equipment.broker.address, queue: route.queue, prefetch: route.prefetch, name: name,
      time: process.time, log: process.log)
    let watchdog = Watchdog.endingTheProcess(
      elapsed: { SystemTime().elapsed() }, log: process.log)
    watchdog.start()
    let worker = Worker(
      route: route, link: link, stage: try makeStage(process, equipment), time: process.time,
      log: process.log, metrics: process.metrics, health: health, watchdog: watchdog,
      tracer: process.tracer)
    process.log.info("working", ["queue": route.queue, "prefetch": "\(route.prefetch)"])
    worker.run(until: process.stop, grace: process.grace)
    if let defect = worker.defect { throw CommandFailure(.software, defect) }
  }

  private func makeStage(_ process: RoleProcess, _ equipment: Equipment) throws -> any Stage {
    let store = equipment.store
    let routes = equipment.broker.routes
    switch stage {
    case .build:
      return PayloadBuilder(
        store: store, pushes: routes[.apns], fcm: routes[.fcm], contracts: equipment.contracts,
        time: process.time)
    case .notify:
      return Notifier(
        store: store, pushes: routes[.apns],
        webPush: equipment.origin.map { WebPushOutlet(route: routes[.webpush], origin: $0) },
        time: process.time, metrics: NotificationMetrics(process.metrics))
    case .webpush:
      guard let webPush = equipment.webPush else { preconditionFailure("its settings were read") }
      return webPush.makeSender(process, store: store)
    case .fcm:
      guard let fcm = equipment.fcm else { preconditionFailure("its settings were read") }
      return fcm.makeSender(process, store: store, pushes: routes[.fcm])
    case .apns:
      guard let apns = equipment.apns else { preconditionFailure("its settings were read") }
      return APNsSender(
        store: store, pushes: routes[.apns], transport: try apns.makeTransport(process),
        bundleID: apns.bundleID, time: process.time, log: process.log, metrics: process.metrics,
        tracer: process.tracer, lanes: process.lanes)
    }
  }
}
