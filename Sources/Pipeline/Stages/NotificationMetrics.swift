import ServiceRuntime

/// What the notifier counts.
package struct NotificationMetrics {
  let inserted: Counter
  let resolved: Counter

  package init(_ metrics: Metrics) {
    let name = "lockstep_notifications_total"
    let help = "Notifications by channel and what became of them."
    inserted = metrics.counter(
      name, help: help, labels: ["channel": "inbox", "outcome": "inserted"])
    resolved = metrics.counter(
      name, help: help, labels: ["channel": "inbox", "outcome": "resolved"])
  }
}
