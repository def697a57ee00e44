import ServiceRuntime

/// What the notifier counts. What became of pushes the senders count.
package struct NotificationMetrics {
  let inserted: Counter
  let resolved: Counter
  let alertsQueued: Counter
  let alertsTakenBack: Counter
  let webPushesQueued: Counter

  package init(_ metrics: Metrics) {
    func counter(_ channel: String, _ outcome: String) -> Counter {
      metrics.counter(
        "lockstep_notifications_total", help: "Notifications by channel and what became of them.",
        labels: ["channel": channel, "outcome": outcome])
    }
    inserted = counter("inbox", "inserted")
    resolved = counter("inbox", "resolved")
    alertsQueued = counter("alert", "queued")
    alertsTakenBack = counter("alert", "taken_back")
    webPushesQueued = counter(StageName.webpush.rawValue, "queued")
  }

  func add(_ tally: Notifier.Tally) {
    inserted.add(tally.inserted)
    resolved.add(tally.resolved)
    alertsQueued.add(tally.alertsQueued)
    alertsTakenBack.add(tally.alertsTakenBack)
    webPushesQueued.add(tally.webPushesQueued)
  }
}
