import Pushes
import ServiceRuntime
import Vocabulary

/// What the sender counts.
struct PushMetrics {
  private let metrics: Metrics
  private let criticalTime: Histogram
  let inFlight: Gauge
  let guardTrips: Counter

  init(_ metrics: Metrics) {
    self.metrics = metrics
    criticalTime = metrics.histogram(
      "lockstep_critical_time_seconds", help: "From the mutation to APNs' acceptance of its push.",
      buckets: [
        0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600,
      ])
    inFlight = metrics.gauge("lockstep_pushes_in_flight", help: "Pushes sent and not answered.")
    guardTrips = metrics.counter(
      "lockstep_guard_trips_total", help: "Times that the mass guard stopped pruning.")
  }

  func count(_ sending: APNsSender.Sending, _ outcome: PushOutcome, now: UnixTime) {
    let (status, reason) =
      switch outcome {
      case .answered(let answer): (String(answer.status), answer.reason ?? "")
      case .neverProcessed: ("none", "never_processed")
      case .unanswered: ("none", "unanswered")
      }
    metrics.counter(
      "lockstep_pushes_total", help: "Pushes by what APNs answered.",
      labels: [
        "environment": sending.environment.rawValue, "push_type": sending.job.pushType,
        "status": status, "reason": String(reason.prefix(40)),
      ]
    ).add()
    if status == "200" {
      criticalTime.observe(max(0, (now - sending.job.causedAt).secondsAndFraction))
    }
  }

  func pruned(_ count: Int, because reason: String) {
    metrics.counter(
      "lockstep_tokens_pruned_total", help: "Tokens marked as dead.", labels: ["reason": reason]
    ).add(count)
  }

  /// Shows open lanes as 1; a lane that closed goes back to 0.
  func show(_ lanes: LaneBook) {
    for (lane, isOpen) in lanes.changes {
      metrics.gauge(
        "lockstep_lane_open", help: "1 while nothing is sent on the lane but probes.",
        labels: ["environment": lane.environment.rawValue, "topic": lane.topic]
      ).set(isOpen ? 1 : 0)
    }
  }
}
