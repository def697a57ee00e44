import ServiceRuntime

/// What the transport counts of its own; pushes are counted by who sends them.
struct APNsTransportMetrics {
  let opened: Counter
  let ended: Counter
  let resent: Counter
  let present: Gauge

  init(_ metrics: Metrics) {
    opened = metrics.counter(
      "lockstep_apns_connections_opened_total", help: "Connections to APNs begun.")
    ended = metrics.counter(
      "lockstep_apns_connections_ended_total", help: "Connections to APNs ended.")
    present = metrics.gauge(
      "lockstep_apns_connections", help: "Connections to APNs, those still being opened too.")
    resent = metrics.counter(
      "lockstep_apns_resent_total",
      help: "Requests sent again on another connection, APNs never having processed them.")
  }
}
