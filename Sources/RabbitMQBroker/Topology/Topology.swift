import Pipeline

/// Everything the broker holds for us, as queues.yaml says: what `topology apply` declares and what
/// the workers read and write.
package struct Topology: Hashable, Sendable {
  package struct Exchange: Hashable, Sendable {
    package enum Kind: String, Sendable { case topic, direct, fanout }

    package let name: String
    package let kind: Kind
    package let arguments: [String: HeaderValue]
  }

  package struct Queue: Hashable, Sendable {
    /// What the queue is for: the owner is the stage's or the plain queue's name in queues.yaml.
    package enum Purpose: Hashable, Sendable {
      case work(owner: String)
      case rung(owner: String, name: String)
      case dead(owner: String)
      case unroutable
    }

    package let name: String
    package let purpose: Purpose
    package let arguments: [String: HeaderValue]
    package let expectation: Expectation
  }

  package struct Binding: Hashable, Sendable {
    package let exchange: String
    package let queue: String
    /// A key, or for a topic exchange a pattern; empty for a fanout.
    package let routingKey: String
  }

  /// What the operator wants of a queue; nil where nothing is.
  package struct Expectation: Hashable, Sendable {
    package var maxDepth: Int?
    /// Of the oldest message.
    package var maxAge: Duration?
    package var minConsumers: Int?
    /// Whoever reads it may be switched off: readers are expected only while something waits.
    package var isOptional: Bool
    /// How many waiting messages one worker may carry, for autoscaling.
    package var messagesPerWorker: Int?

    package init(
      maxDepth: Int? = nil, maxAge: Duration? = nil, minConsumers: Int? = nil,
      isOptional: Bool = false, messagesPerWorker: Int? = nil
    ) {
      self.maxDepth = maxDepth
      self.maxAge = maxAge
      self.minConsumers = minConsumers
      self.isOptional = isOptional
      self.messagesPerWorker = messagesPerWorker
    }
  }

  /// One role's account: by exact names, and for a tap by the beginning of its queues' names.
  package struct User: Hashable, Sendable {
    package let name: String
    package let tags: [String]
    /// May declare and delete everything; with it come all reads and writes.
    package let configures: Bool
    package let reads: [String]
    package let writes: [String]
    /// May declare, bind and read queues whose names begin with ``tapPrefix``.
    package let taps: Bool
  }

  package let eventsExchange: String
  package let exchanges: [Exchange]
  package let queues: [Queue]
  package let bindings: [Binding]
  package let users: [User]
  package let routes: Routes
}

extension Topology.User {
  /// RabbitMQ's three regular expressions. The default exchange is never among them.
  package var permissions: (configure: String, write: String, read: String) {
    guard !configures else { return (".*", ".*", ".*") }
    let own = taps ? [Self.escaped(Self.tapPrefix) + ".*"] : []
    return (
      Self.expression(for: own), Self.expression(for: writes.map(Self.escaped) + own),
      Self.expression(for: reads.map(Self.escaped) + own)
    )
  }

  /// How the names of the queues begin that a user who taps may declare.
  static let tapPrefix = "tap."

  private static func escaped(_ name: String) -> String { name.replacing(".", with: "\\.") }

  private static func expression(for patterns: [String]) -> String {
    patterns.isEmpty ? "^$" : "^(" + patterns.joined(separator: "|") + ")$"
  }
}

extension Topology {
  /// The way to one work queue and to no other.
  package struct Path: Hashable, Sendable {
    package let queue: String
    package let exchange: String
    package let routingKey: String
  }

  /// The way to the work queue of a stage or plain queue, by its key in queues.yaml.
  package func path(toOwner owner: String) -> Path? {
    queues.first { $0.purpose == .work(owner: owner) }
      .map { Path(queue: $0.name, exchange: $0.name, routingKey: owner) }
  }

  /// Whether a name that queues.yaml does not know is of our scheme, so that it was ours once.
  func owns(_ name: String) -> Bool {
    let work = queues.filter { if case .work = $0.purpose { true } else { false } }.map(\.name)
    return ["retry.", "dead."].contains { name.hasPrefix($0) }
      || work.contains { name.hasPrefix($0 + ".") || name.hasPrefix($0 + "-") }
  }

  package func queue(_ name: String) -> Queue? { queues.first { $0.name == name } }
}

/// queues.yaml cannot be used: everything that is wrong with it, in the file's order.
package struct TopologyRefused: Error, Hashable, CustomStringConvertible {
  /// The name of the file, for messages.
  package let file: String
  package let problems: [TopologyProblem]

  package var description: String {
    problems.map { "\(file):\($0)" }.joined(separator: "\n")
  }
}
