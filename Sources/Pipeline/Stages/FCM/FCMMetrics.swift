import ServiceRuntime

/// What the FCM sender counts.
struct FCMMetrics {
  private let metrics: Metrics
  let inFlight: Gauge
  let guardTrips: Counter
  let criticalTime: Histogram
  /// There from the start, so that an alarm sees the first rise.
  let incidents: Counter
  let lanes: LaneMetrics

  init(_ metrics: Metrics) {
    self.metrics = metrics
    lanes = LaneMetrics(metrics)
    inFlight = metrics.gauge(
      "lockstep_fcm_in_flight", help: "FCM messages sent and not answered.")
    guardTrips = metrics.counter(
      "lockstep_guard_trips_total", help: "Times that the mass guard stopped pruning.")
    incidents = metrics.counter(
      "lockstep_fcm_incidents_total",
      help: "Times that FCM refused the project or its credentials, which a person must mend.")
    criticalTime = metrics.histogram(
      "lockstep_fcm_critical_time_seconds", help: "From the mutation to FCM's acceptance.",
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600])
  }

  func count(_ outcome: String) {
    metrics.counter(
      "lockstep_fcm_messages_total", help: "FCM messages by what became of them.",
      labels: ["outcome": outcome]
    ).add()
  }
}
