import ServiceRuntime

/// What every stage counts.
struct StageMetrics {
  private let metrics: Metrics
  private let stage: String
  let received: Counter
  let published: Counter
  let publishRefused: Counter
  /// Kept: writing the labels of a counter costs as much as the rest of the worker's loop.
  private var outcomes: [String: Counter] = [:]

  init(_ metrics: Metrics, stage: StageName) {
    self.metrics = metrics
    self.stage = stage.rawValue
    let labels = ["stage": stage.rawValue]
    received = metrics.counter(
      "lockstep_stage_received_total", help: "Messages received from the stage's queue.",
      labels: labels)
    published = metrics.counter(
      "lockstep_stage_published_total", help: "Messages published by the stage.", labels: labels)
    publishRefused = metrics.counter(
      "lockstep_stage_publish_refused_total",
      help: "Messages of the stage that the broker returned or refused.", labels: labels)
  }

  mutating func outcome(_ name: String) {
    if let known = outcomes[name] { return known.add() }
    let counter = metrics.counter(
      "lockstep_stage_messages_total", help: "Messages settled by the stage, by outcome.",
      labels: ["stage": stage, "outcome": name])
    outcomes[name] = counter
    counter.add()
  }
}
