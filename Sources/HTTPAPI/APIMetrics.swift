import Pipeline
import ServiceRuntime
import Vocabulary

/// What the API counts.
struct APIMetrics: Sendable {
  private static let secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
  private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

  private static let requestsName = "lockstep_http_requests_total"
  private static let requestsHelp = "Requests answered by the API."
  private static let acceptedName = "lockstep_events_accepted_total"
  private static let acceptedHelp = "Events stored in the outbox, by type."

  private let metrics: Metrics
  private let seconds: Histogram
  private let phoneLag: Histogram

  init(_ metrics: Metrics) {
    self.metrics = metrics
    seconds = metrics.histogram(
      "lockstep_http_request_seconds", help: "From a whole request to its answer.",
      buckets: Self.secondsBuckets)
    phoneLag = metrics.histogram(
      "lockstep_phone_lag_revs", help: "How many revs a phone's report lay behind the server.",
      buckets: [0, 1, 2, 5, 10, 50])
    metrics.announce(Self.requestsName, help: Self.requestsHelp, type: "counter")
    metrics.announce(Self.acceptedName, help: Self.acceptedHelp, type: "counter")
  }

  /// `route` is the pattern, so that ids do not become labels.
  func answered(_ method: String, _ route: String, status: Int, after spent: Duration) {
    // A method is whatever a stranger wrote; unknown ones are one label.
    let method = Self.methods.contains(method) ? method : "other"
    metrics.counter(
      Self.requestsName, help: Self.requestsHelp,
      labels: ["method": method, "route": route, "status": "\(status)"]
    ).add()
    seconds.observe(spent.secondsAndFraction)
  }

  func accepted(_ event: OutboxEvent) {
    metrics.counter(
      Self.acceptedName, help: Self.acceptedHelp,
      labels: ["type": event.message.type]
    ).add()
  }

  /// How far a phone lay behind, 0 when it shows the newest rev.
  func phoneLay(behind revs: Int) { phoneLag.observe(Double(revs)) }
}
