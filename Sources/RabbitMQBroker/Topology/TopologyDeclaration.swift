import Pipeline

/// queues.yaml as it is written, before ``TopologyDerivation`` makes the full set of it.
struct TopologyDeclaration {
  struct Named {
    let name: String
    let mark: Mark
  }

  struct Rung {
    /// As written: `5s`.
    let name: String
    let wait: Duration
    let arguments: [String: HeaderValue]
    let mark: Mark
  }

  /// A stage, or a plain queue that a program outside of the pipeline reads.
  struct WorkQueue {
    /// The key in queues.yaml; also the routing key and the end of the dead queue's name.
    let owner: Named
    let queue: Named
    /// Patterns of event types.
    let events: [Named]
    let deliveryLimit: Int
    let maxLength: Int
    let arguments: [String: HeaderValue]
    let expectation: Topology.Expectation
  }

  struct Stage {
    let name: StageName
    let work: WorkQueue
    let prefetch: Int
    let rungs: [Rung]
    /// The stages that this one gives jobs to.
    let sends: [Named]
  }

  struct User {
    let name: Named
    let tags: [String]
    let configures: Bool
    /// Stages the user works for.
    let work: [Named]
    let consume: [Named]
    let publish: [Named]
    /// Exchanges the user listens to with queues of its own.
    let tap: [Named]
  }

  var events: Named
  var unroutable: Named
  var unroutableExpectation: Topology.Expectation
  var dead: Named
  var deadQueueType: String
  var deadExpectation: Topology.Expectation
  /// Factors on a rung's wait, the first 1; each gives one TTL variant.
  var spread: [Double]
  var stages: [Stage]
  var queues: [WorkQueue]
  var users: [User]
}
