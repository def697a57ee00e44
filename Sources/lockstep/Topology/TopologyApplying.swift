import Pipeline
import RabbitMQBroker
import ServiceRuntime

/// `lockstep topology apply`: declares what queues.yaml says; with a management URL also the
/// virtual host and the rights of the accounts that exist.
enum TopologyApplying {
  static func run(_ invocation: Invocation) throws {
    var settings = invocation.settings
    let broker = BrokerWiring(reading: &settings)
    let management = ManagementWiring.optional(&settings, broker: broker)
    guard settings.problems.isEmpty, let broker else { throw Reading.failure(settings) }
    let prints = Prints(invocation)
    if let management {
      try ManagementWiring.attempt { try prepare(management, broker, prints) }
    }
    do {
      try RabbitMQTopology.apply(broker.topology, at: broker.address, time: SystemTime())
    } catch {
      switch error {
      case .broker: throw CommandFailure(.unavailable, "\(error)")
      case .differs(let lines):
        let queues = broker.topology.queues.map(\.name)
          .filter { name in lines.contains { $0.hasPrefix("queue \(name): ") } }
        let exchanges = broker.topology.exchanges.map(\.name)
          .filter { name in lines.contains { $0.hasPrefix("exchange \(name): ") } }
        TopologyCommand.printRecipes(queues, exchanges, broker, prints)
        throw CommandFailure(.configuration, "\(error)")
      case .missing: throw CommandFailure(.configuration, "\(error)")
      }
    }
    let topology = broker.topology
    print(
      "\(topology.exchanges.count) exchanges, \(topology.queues.count) queues and "
        + "\(topology.bindings.count) bindings are in place")
  }

  private static func prepare(
    _ management: BrokerManagement, _ broker: BrokerWiring, _ prints: Prints
  ) throws {
    let (address, users) = (broker.address, broker.topology.users)
    let isNew = try management.makeVirtualHost()
    if isNew { prints.aside("virtual host \(address.virtualHost) made") }
    if isNew, !users.contains(where: { $0.name == address.user }) {
      // Who declares must be let in.
      try management.setPermissions(of: address.user, to: (".*", ".*", ".*"))
    }
    guard let known = try management.users() else {
      prints.aside("rights were not set: the management account is no administrator")
      return
    }
    for user in users where known.contains(user.name) {
      try management.setPermissions(of: user.name, to: user.permissions)
    }
    let missing = users.map(\.name).filter { !known.contains($0) }
    if !missing.isEmpty {
      prints.aside(
        "no account yet: \(missing.joined(separator: ", ")) (lockstep topology users makes them)")
    }
  }
}
