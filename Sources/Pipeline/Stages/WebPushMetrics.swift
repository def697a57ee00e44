import ServiceRuntime

/// What the Web Push sender counts.
struct WebPushMetrics {
  private let metrics: Metrics
  let inFlight: Gauge
  let guardTrips: Counter

  init(_ metrics: Metrics) {
    self.metrics = metrics
    inFlight = metrics.gauge(
      "lockstep_webpushes_in_flight", help: "Web Pushes sent and not answered.")
    guardTrips = metrics.counter(
      "lockstep_guard_trips_total", help: "Times that the mass guard stopped pruning.")
  }

  func count(_ outcome: String) {
    metrics.counter(
      "lockstep_notifications_total", help: "Notifications by channel and what became of them.",
      labels: ["channel": StageName.webpush.rawValue, "outcome": outcome]
    ).add()
  }
}
