import APNsTransport
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

  /// The process of this role alone.
  func run(_ invocation: Invocation) throws {
    var settings = invocation.settings
    let frame = RoleProcess.Settings(reading: &settings, role: name)
    let databasePath = StoreWiring.path(reading: &settings)
    let broker = BrokerWiring(reading: &settings)
    let apns = stage == .apns ? APNsWiring(reading: &settings) : nil
    let webPush = stage == .webpush ? WebPushWiring(reading: &settings) : nil
    let prefetch = Self.prefetch(reading: &settings)
    guard settings.problems.isEmpty, let databasePath, let broker else {
      throw Reading.failure(settings)
    }
    let process = try RoleProcess(frame)
    let store = try StoreWiring.open(databasePath)
    let failure = FirstFailure()
    let thread = try start(
      process, store: store, broker: broker, apns: apns, webPush: webPush, prefetch: prefetch,
      failure: failure)
    try process.runUntilStopped([(name, thread)], failure: failure)
  }

  /// Nil: what queues.yaml says.
  static func prefetch(reading settings: inout SettingsReader) -> Int? {
    guard settings.text("PREFETCH") != nil else { return nil }
    return settings.integer("PREFETCH", in: 1...2000, default: 1)
  }

  /// Starts the thread that owns this stage's connections. `origin`: where the web app lives; nil
  /// tells no browser.
  func start(
    _ process: RoleProcess, store: any Store, broker: BrokerWiring, apns: APNsWiring?,
    webPush: WebPushWiring? = nil, origin: WebOrigin? = nil, prefetch: Int?, failure: FirstFailure
  ) throws -> OwnedThread {
    if let apns { _ = try apns.makeTransport(process) }
    process.health.report("broker", trouble: "not connected yet")
    let role = self
    return OwnedThread.start(named: name) {
      guard broker.isReady(for: role.stage, process: process, failure: failure) else { return }
      do {
        let stage = try role.makeStage(
          process, store: store, routes: broker.routes, apns: apns, webPush: webPush,
          origin: origin)
        var route = broker.routes[role.stage]
        if let prefetch { route.prefetch = prefetch }
        let link = RabbitMQLink(
          broker.address, queue: route.queue, prefetch: route.prefetch, name: role.name,
          time: process.time, log: process.log)
        let worker = Worker(
          route: route, link: link, stage: stage, time: process.time, log: process.log,
          metrics: process.metrics, health: process.health)
        process.log.info("working", ["queue": route.queue, "prefetch": "\(route.prefetch)"])
        worker.run(until: process.stop, grace: process.grace)
      } catch {
        failure.note(
          error as? CommandFailure ?? CommandFailure(.software, "\(role.name): \(error)"))
        process.stop.raise()
      }
    }
  }

  private func makeStage(
    _ process: RoleProcess, store: any Store, routes: Routes, apns: APNsWiring?,
    webPush: WebPushWiring?, origin: WebOrigin?
  ) throws -> any Stage {
    switch stage {
    case .build: return PayloadBuilder(store: store, pushes: routes[.apns], time: process.time)
    case .notify:
      return Notifier(
        store: store, pushes: routes[.apns],
        webPush: origin.map { WebPushOutlet(route: routes[.webpush], origin: $0) },
        time: process.time, metrics: NotificationMetrics(process.metrics))
    case .webpush:
      guard let webPush else { preconditionFailure("the sender's settings were read") }
      return webPush.makeSender(process, store: store)
    case .apns:
      guard let apns else { preconditionFailure("the sender's settings were read") }
      return APNsSender(
        store: store, pushes: routes[.apns], transport: try apns.makeTransport(process),
        bundleID: apns.bundleID,
        time: process.time, log: process.log, metrics: process.metrics)
    }
  }
}
