import Pipeline
import Vocabulary

extension LedgerCheck.Trace {
  /// Line by line what the store keeps, for whoever looks for the fault in it.
  var story: String {
    let built = builds.map { build in
      "  rev \(build.rev) for \(build.userID): \(build.outcome), \(build.updateJobs) updates, "
        + "\(build.startJobs) starts"
    }
    let sent = deliveries.sorted { $0.settledAt < $1.settledAt }.map { delivery in
      let answer = [delivery.status.map(String.init), delivery.reason].compactMap { $0 }
      return "  \(delivery.settledAt.rfc3339) \(delivery.event) rev \(delivery.rev) to "
        + "\(delivery.userID), visit \(delivery.attempt): "
        + "\(delivery.consequence?.rawValue ?? "?") \(answer.joined(separator: " "))"
    }
    return (built + sent).joined(separator: "\n")
  }
}
