import ServiceRuntime
import Vocabulary

/// What every stage counts.
struct StageMetrics {
  private let metrics: Metrics
  private let stage: String
  let received: Counter
  let published: Counter
  let publishRefused: Counter
  private let age: Histogram
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
    age = metrics.histogram(
      "lockstep_stage_age_seconds",
      help: "Age of a message since its mutation when the stage first takes it, whole seconds.",
      buckets: [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600], labels: labels)
    // From 0 on, so that the first of a kind is seen as a rise.
    for name in Disposition.outcomes { outcomes[name] = counter(of: name) }
  }

  func took(_ deliveries: [Delivery], now: UnixTime) {
    received.add(deliveries.count)
    for delivery in deliveries where delivery.attempt == 1 {
      // A foreign program may leave it out; clocks may differ by a little.
      guard let made = delivery.message.timestamp else { continue }
      age.observe(max(0, Double(now.seconds - made.seconds)))
    }
  }

  mutating func outcome(_ name: String) {
    let counter = outcomes[name] ?? counter(of: name)
    outcomes[name] = counter
    counter.add()
  }

  private func counter(of outcome: String) -> Counter {
    metrics.counter(
      "lockstep_stage_messages_total", help: "Messages settled by the stage, by outcome.",
      labels: ["stage": stage, "outcome": outcome])
  }
}
