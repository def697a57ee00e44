import Activities
import Cryptography
import Foundation
import HTTPAPI
import HTTPServing
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import Sessions
import Vocabulary

/// The HTTP API and the outbox relay beside it.
struct APIRole: Sendable {
  static let name = "api"
  static let ownSettingNames =
    [
      "HTTP_ADDR", "RATE_PER_USER", SessionReading.settingName, "OUTBOX_EVENTS_MAX",
      ContractFiles.settingName,
    ] + Reading.callerKeyNames + WebPushWiring.apiSettingNames + FCMWiring.apiSettingNames
  static let settingNames =
    RoleProcess.settingNames + StoreWiring.settingNames + BrokerWiring.settingNames
    + ownSettingNames

  /// Clients that hold a connection open get this long to notice that it closes.
  private static let connectionsWait: Duration = .seconds(2)

  struct Settings: Sendable {
    let address: ListenAddress
    let keys: JSONWebKeySet
    let api: APISettings
    let outboxEventsMax: Int
    let contracts: ContractCatalog

    init?(reading settings: inout SettingsReader) {
      address =
        settings.value("HTTP_ADDR") { try ListenAddress($0) }
        ?? ListenAddress(host: "127.0.0.1", port: 8080)
      let rate = settings.integer("RATE_PER_USER", in: 1...10_000, default: 20)
      let limits = SessionReading.limits(&settings)
      // Three seconds' worth may come at once.
      api = APISettings(
        session: limits, requestsPerSecond: Double(rate), requestBurst: rate * 3,
        webPush: WebPushWiring.offer(reading: &settings),
        fcmPackages: FCMWiring.packages(reading: &settings))
      outboxEventsMax = settings.integer(
        "OUTBOX_EVENTS_MAX", in: 1...100_000_000, default: 1_000_000)
      contracts = ContractFiles.catalog(reading: &settings)
      let keys = Reading.callerKeys(&settings, want: "the path of a JWK Set")
      guard let keys else { return nil }
      self.keys = keys
    }
  }

  static func run(_ invocation: Invocation) throws {
    var settings = invocation.settings
    let frame = RoleProcess.Settings(reading: &settings, role: name)
    let database = StoreWiring.address(reading: &settings)
    let broker = BrokerWiring(reading: &settings)
    let own = Settings(reading: &settings)
    guard settings.problems.isEmpty, let database, let broker, let own else {
      throw Reading.failure(settings)
    }
    let process = try RoleProcess(frame)
    let store = try StoreWiring.open(database, metrics: process.metrics)
    let threads = try start(own, process, store: store, broker: broker)
    try process.runUntilStopped(threads)
  }

  /// Serves, and starts the relay; both end with the process. `bell`: wakes the relay.
  static func start(
    _ settings: Settings, _ process: RoleProcess, store: any Store, broker: BrokerWiring,
    bell: Bell = Bell()
  ) throws -> [(name: String, thread: OwnedThread)] {
    let gate = OutboxGate(limit: settings.outboxEventsMax)
    let api = API(
      store: store, keys: settings.keys, time: process.time, settings: settings.api,
      log: process.log, metrics: process.metrics, outbox: gate, contracts: settings.contracts,
      tracer: process.tracer, onCommit: { bell.ring() })
    let server: HTTPServer
    do {
      server = try HTTPServer(
        address: settings.address, log: process.log, refusal: API.refusal,
        handler: { api.handle($0) })
    } catch {
      throw CommandFailure(.unavailable, "API: \(error)")
    }
    let serving = OwnedThread.start(named: "api") { endWithProcess(server, process) }
    let relaying = RelayWiring.start(process, store: store, broker: broker, bell: bell) {
      gate.update(depth: $0)
    }
    return [("api", serving), relaying]
  }

  private static func endWithProcess(_ server: HTTPServer, _ process: RoleProcess) {
    while !process.stop.isRaised { process.stop.wait(atMost: .seconds(60)) }
    server.drain()
    let end = process.time.elapsed() + min(process.grace, connectionsWait)
    while server.connections > 0, process.time.elapsed() < end {
      Poll.wait([], atMost: .milliseconds(20))
    }
    server.stop()
  }
}
