import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import Vocabulary

/// The broker as settings say, and how a role joins it.
struct BrokerWiring: Sendable {
  static let settingNames = ["AMQP_URL", "AMQP_CA_FILE", "QUEUES_FILE"]

  let address: BrokerAddress
  let topology: Topology

  /// Nil, with problems noted in `settings`, when something is missing or wrong.
  init?(reading settings: inout SettingsReader) {
    let authorities = settings.value("AMQP_CA_FILE") { path in
      _ = try Reading.file(path)
      return path
    }
    let address = settings.required(
      "AMQP_URL", want: "amqp://user:password@host/vhost", isSecret: true
    ) { try BrokerAddress(url: $0, authoritiesFile: authorities) }
    let topology = Self.topology(reading: &settings)
    guard let address, let topology else { return nil }
    self.address = address
    self.topology = topology
  }

  static func topology(reading settings: inout SettingsReader) -> Topology? {
    let path = settings.text("QUEUES_FILE") ?? "queues.yaml"
    do {
      return try Topology(file: path)
    } catch {
      settings.refuse("QUEUES_FILE", "\(error)")
      return nil
    }
  }

  var routes: Routes { topology.routes }

  /// Waits until the broker is there and holds what `stage` needs (nil: what publishing events
  /// needs).
  ///
  /// - Returns: false when the process is to stop; a topology that does not fit is its reason.
  func isReady(for stage: StageName?, process: RoleProcess, health: Health) -> Bool {
    var backoff = Backoff()
    while !process.stop.isRaised {
      do {
        try RabbitMQTopology.check(routes, stage: stage, at: address, time: process.time)
        health.report("broker", trouble: nil)
        return true
      } catch {
        switch error {
        case .broker(let loss):
          health.report("broker", trouble: loss.reason)
          process.log.warning("broker is away", ["because": loss.reason])
          process.stop.wait(atMost: backoff.next())
        case .differs, .missing:
          process.log.error("topology does not fit", ["because": "\(error)"])
          process.fail(CommandFailure(.configuration, "\(error)"))
        }
      }
    }
    return false
  }
}
