/// What the pipeline needs of the topology: read from queues.yaml by the broker's adapter.
package struct Routes: Hashable, Sendable {
  /// The exchange that takes every event, by its type.
  package let eventsExchange: String
  package let stages: [StageName: StageRoute]

  package init(eventsExchange: String, stages: [StageName: StageRoute]) {
    self.eventsExchange = eventsExchange
    self.stages = stages
  }

  /// The topology is checked to name every stage before routes are made of it.
  package subscript(stage: StageName) -> StageRoute {
    guard let route = stages[stage] else {
      preconditionFailure("queues.yaml was read without stage \(stage.rawValue)")
    }
    return route
  }

  /// In the order of the stages' names.
  package var all: [StageRoute] { StageName.allCases.map { self[$0] } }
}
