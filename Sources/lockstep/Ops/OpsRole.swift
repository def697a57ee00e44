import Foundation
import HTTPServing
import Pipeline
import RabbitMQBroker
import ServiceRuntime

/// Serves `/ops` on its admin port: queues, dead letters, lanes, explain. It works with the
/// operator's account, which may read dead letters and send them back; no worker's may.
enum OpsRole {
  static let name = "ops"
  private static let sendersName = "OPS_SENDERS"
  static let settingNames =
    RoleProcess.settingNames + StoreWiring.settingNames + BrokerWiring.settingNames
    + ["AMQP_MANAGEMENT_URL", sendersName]

  static func run(_ invocation: Invocation) throws {
    var settings = invocation.settings
    let frame = RoleProcess.Settings(reading: &settings, role: name)
    let database = StoreWiring.address(reading: &settings)
    let broker = BrokerWiring(reading: &settings)
    let management = ManagementWiring.optionalURL(&settings, broker: broker)
    let senders = settings.value(sendersName, senders) ?? []
    guard settings.problems.isEmpty, let database, let broker else {
      throw Reading.failure(settings)
    }
    let watch = OpsWatch(broker.topology, senders: senders)
    let routes = OpsRoutes(
      watch: watch, dead: OpsDeadLetters(broker, log: frame.log), database: database,
      time: SystemTime())
    let process = try RoleProcess(frame, threads: 2) { routes.respond(to: $0) }
    let thread = OwnedThread.start(named: name) {
      watch.run(
        in: process,
        QueueWatch(
          broker.topology, at: broker.address, management: management(), time: process.time))
    }
    try process.runUntilStopped([(name, thread)])
  }

  /// `host:port`, comma-separated.
  private static func senders(_ text: String) throws -> [String] {
    try text.split(separator: ",").map { try ListenAddress(String($0)).description }
  }
}
