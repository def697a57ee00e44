import Vocabulary

/// How to give a queue or exchange other arguments, which RabbitMQ cannot change in place, without
/// losing a message: commands for a shell, for a person to read and run.
///
/// `$M` stands for LOCKSTEP_AMQP_MANAGEMENT_URL, so that no password is printed.
package enum MigrationRecipe {
  /// The recipe for one work, rung or dead queue.
  package static func lines(queue name: String, in topology: Topology, virtualHost: String)
    -> [String]
  {
    let (host, other) = (segment(virtualHost), "\(name).moving")
    let bindings = topology.bindings.filter { $0.queue == name }
    func binding(_ exchange: String, _ queue: String) -> String {
      "\"$M/api/bindings/\(host)/e/\(exchange)/q/\(queue)"
    }
    let json = "-H 'content-type: application/json' -d"
    let put = "curl -fsS -X PUT \"$M/api/queues/\(host)/\(other)\" \(json)"
    var lines = [
      "# queue \(name): its arguments change. Publishers may go on; what they publish meanwhile",
      "# waits in \(other). Stop whatever reads \(name) first, and run as the topology user.",
      "M=$LOCKSTEP_AMQP_MANAGEMENT_URL", "# 1. another queue, bound like this one",
      put
        + #" '{"durable":true,"arguments":{"x-queue-type":"quorum","x-delivery-limit":1000000}}'"#,
    ]
    lines += bindings.map { bound in
      let key = #"'{"routing_key":"\#(bound.routingKey)"}'"#
      return "curl -fsS -X POST \(binding(bound.exchange, other))\" \(json) \(key)"
    }
    lines.append("# 2. nothing new comes into the old one")
    lines += bindings.map { bound in
      "curl -fsS -X DELETE \(binding(bound.exchange, name))/\(properties(bound.routingKey))\""
    }
    lines += [
      "# 3. drain it (or with a shovel); delete it once a second move says 0",
      "lockstep topology move \(name) \(other)", "lockstep topology move \(name) \(other)",
      "curl -fsS -X DELETE \"$M/api/queues/\(host)/\(name)\"",
      "# 4. make it as queues.yaml says (what else differs is named); new messages go there",
      "lockstep topology apply", "# 5. bring back what waited",
    ]
    lines += bindings.map { bound in
      "curl -fsS -X DELETE \(binding(bound.exchange, other))/\(properties(bound.routingKey))\""
    }
    return lines + [
      "lockstep topology move \(other) \(name)", "lockstep topology move \(other) \(name)",
      "curl -fsS -X DELETE \"$M/api/queues/\(host)/\(other)\"",
      "lockstep topology plan",
    ]
  }

  /// The recipe for an exchange. It holds nothing: while it is away publishers keep what they have.
  package static func lines(exchange name: String, virtualHost: String) -> [String] {
    [
      "# exchange \(name): while it is away the outbox and the workers keep what they have.",
      "M=$LOCKSTEP_AMQP_MANAGEMENT_URL",
      "curl -fsS -X DELETE \"$M/api/exchanges/\(segment(virtualHost))/\(name)\"",
      "lockstep topology apply",
    ]
  }

  private static func segment(_ virtualHost: String) -> String {
    virtualHost.replacing("%", with: "%25").replacing("/", with: "%2F")
  }

  /// RabbitMQ's name of a binding without arguments: its key, `~` for the empty one.
  private static func properties(_ routingKey: String) -> String {
    routingKey.isEmpty ? "~" : routingKey.replacing("#", with: "%23")
  }
}
