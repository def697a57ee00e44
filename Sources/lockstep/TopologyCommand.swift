import Pipeline
import RabbitMQBroker
import ServiceRuntime

/// `lockstep topology apply`: declares what queues.yaml says. It creates and never deletes.
enum TopologyCommand {
  static func run(_ invocation: Invocation) throws {
    guard invocation.arguments.words == ["apply"] else {
      throw CommandFailure(.usage, "topology wants: apply")
    }
    var settings = invocation.settings
    let broker = BrokerWiring(reading: &settings)
    guard settings.problems.isEmpty, let broker else { throw Reading.failure(settings) }
    do {
      try RabbitMQTopology.apply(broker.topology, at: broker.address, time: SystemTime())
    } catch {
      switch error {
      case .broker: throw CommandFailure(.unavailable, "\(error)")
      case .differs, .missing: throw CommandFailure(.configuration, "\(error)")
      }
    }
    let topology = broker.topology
    print(
      "\(topology.exchanges.count) exchanges, \(topology.queues.count) queues and "
        + "\(topology.bindings.count) bindings are in place")
  }
}
