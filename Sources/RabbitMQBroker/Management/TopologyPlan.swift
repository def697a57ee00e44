import Pipeline
import Vocabulary

/// How a virtual host differs from queues.yaml.
package struct TopologyPlan: Sendable {
  package enum Kind: String, Sendable {
    /// `topology apply` makes it.
    case missing
    /// Is there and is not as queues.yaml says; no command changes it by itself.
    case differs
    /// Is there, looks like ours, and queues.yaml does not know it.
    case surplus
  }

  package struct Drift: Hashable, Sendable, CustomStringConvertible {
    package let kind: Kind
    /// `queue apns`.
    package let object: String
    /// `x-message-ttl is 5000, queues.yaml says 6000`.
    package let detail: String

    package var description: String { "\(object): \(detail)" }
  }

  package private(set) var drifts: [Drift] = []
  /// Names of queues and exchanges that must be made anew to become what queues.yaml says.
  package private(set) var queuesToRemake: [String] = []
  package private(set) var exchangesToRemake: [String] = []
  /// Worth knowing, and no drift.
  package private(set) var notes: [String] = []

  package init(_ topology: Topology, found: BrokerContents) {
    compareExchanges(topology, found)
    compareQueues(topology, found)
    compareBindings(topology, found)
    comparePermissions(topology, found)
  }

  private mutating func add(_ kind: Kind, _ object: String, _ detail: String) {
    drifts.append(Drift(kind: kind, object: object, detail: detail))
  }

  private mutating func differs(_ object: String, _ what: String, _ found: String, _ said: String) {
    add(.differs, object, "\(what) is \(found), queues.yaml says \(said)")
  }

  // MARK: Exchanges and queues

  private mutating func compareExchanges(_ topology: Topology, _ found: BrokerContents) {
    for exchange in topology.exchanges {
      let object = "exchange \(exchange.name)"
      guard let there = found.exchanges.first(where: { $0.name == exchange.name }) else {
        add(.missing, object, "is missing")
        continue
      }
      let before = drifts.count
      if there.type != exchange.kind.rawValue {
        differs(object, "type", there.type, exchange.kind.rawValue)
      }
      if !there.durable { differs(object, "durable", "false", "true") }
      compareArguments(object, there.arguments, exchange.arguments)
      if drifts.count > before { exchangesToRemake.append(exchange.name) }
    }
    let known = Set(topology.exchanges.map(\.name))
    for name in found.exchanges.map(\.name) where !known.contains(name) && topology.owns(name) {
      add(.surplus, "exchange \(name)", "is not in queues.yaml")
    }
  }

  private mutating func compareQueues(_ topology: Topology, _ found: BrokerContents) {
    for queue in topology.queues {
      let object = "queue \(queue.name)"
      guard let there = found.queues.first(where: { $0.name == queue.name }) else {
        add(.missing, object, "is missing")
        continue
      }
      let before = drifts.count
      if !there.durable { differs(object, "durable", "false", "true") }
      // A classic queue need not say so.
      let type: JSONValue = there.arguments["x-queue-type"] ?? "classic"
      compareArguments(
        object, there.arguments.merging(["x-queue-type": type]) { first, _ in first },
        queue.arguments)
      if drifts.count > before { queuesToRemake.append(queue.name) }
      comparePolicy(object, there)
    }
    let known = Set(topology.queues.map(\.name))
    for name in found.queues.map(\.name) where !known.contains(name) && topology.owns(name) {
      add(.surplus, "queue \(name)", "is not in queues.yaml")
    }
  }

  private mutating func compareArguments(
    _ object: String, _ found: [String: JSONValue], _ said: [String: HeaderValue]
  ) {
    for name in Set(found.keys).union(said.keys).sorted() {
      let (there, wanted) = (found[name].map(Self.text), said[name].map(Self.text))
      if there != wanted { differs(object, name, there ?? "not set", wanted ?? "not set") }
    }
  }

  /// A policy could make a queue lose what its arguments keep.
  private mutating func comparePolicy(_ object: String, _ queue: BrokerContents.Queue) {
    guard case .object(let definition) = queue.effectivePolicyDefinition, !definition.isEmpty else {
      return
    }
    let names = [queue.policy, queue.operatorPolicy].compactMap { $0 }.filter { !$0.isEmpty }
    for (key, value) in definition.sorted(by: { $0.key < $1.key }) {
      add(
        .surplus, object,
        "policy \(names.joined(separator: ", ")) sets \(key) to \(Self.text(value))")
    }
  }

  private static func text(_ value: JSONValue) -> String {
    switch value {
    case .string(let text): text
    default: String(decoding: value.encoded, as: UTF8.self)
    }
  }

  private static func text(_ value: HeaderValue) -> String {
    switch value {
    case .text(let text): text
    case .integer(let integer): "\(integer)"
    case .flag(let flag): "\(flag)"
    }
  }

  // MARK: Bindings and permissions

  private mutating func compareBindings(_ topology: Topology, _ found: BrokerContents) {
    let there = Set(found.bindings)
    let wanted = topology.bindings.map { binding in
      BrokerContents.Binding(
        source: binding.exchange, destination: binding.queue, destinationType: "queue",
        routingKey: binding.routingKey)
    }
    for binding in wanted where !there.contains(binding) {
      add(.missing, binding.object, "is missing")
    }
    let known = Set(wanted)
    let exchanges = Set(topology.exchanges.map(\.name))
    let surplus = there.filter { binding in
      // Every queue is bound to the default exchange. Others may listen to our events.
      let isOurs =
        binding.destinationType == "queue"
        ? topology.queue(binding.destination) != nil : exchanges.contains(binding.destination)
      return !binding.source.isEmpty && !known.contains(binding) && isOurs
    }
    for binding in surplus.sorted(by: { $0.object < $1.object }) {
      add(.surplus, binding.object, "is not in queues.yaml")
    }
  }

  private mutating func comparePermissions(_ topology: Topology, _ found: BrokerContents) {
    guard let permissions = found.permissions else {
      notes.append("permissions were not looked at: the management account is no administrator")
      return
    }
    let strangers = topology.users.map(\.name)
      .filter { name in !permissions.contains { $0.user == name } }
    if !strangers.isEmpty {
      notes.append("no rights on this virtual host have: \(strangers.joined(separator: ", "))")
    }
    for user in topology.users {
      guard let there = permissions.first(where: { $0.user == user.name }) else {
        continue
      }
      let (object, said) = ("user \(user.name)", user.permissions)
      for (what, found, wanted) in [
        ("configure", there.configure, said.configure), ("write", there.write, said.write),
        ("read", there.read, said.read),
      ] where found != wanted {
        differs(object, what, found.isEmpty ? "empty" : found, wanted)
      }
    }
  }
}

extension BrokerContents.Binding {
  fileprivate var object: String {
    let key = routingKey.isEmpty ? "" : " with key \(routingKey)"
    return "binding of \(destinationType) \(destination) to \(source)\(key)"
  }
}
