import Vocabulary

/// Records said in words: the one place that does.
enum RecordWords {
  static func text(of build: BuildRecord) -> String {
    let rev = "rev \(build.rev)"
    let because = build.reason.map { ": \($0)" } ?? ""
    switch build.outcome {
    case .stored: return "stored \(rev) → \(jobs(build))\(because)"
    case .repeated: return "met \(rev) again → \(jobs(build))\(because)"
    case .late: return "a token came late: \(rev) → \(jobs(build))\(because)"
    case .stale: return "passed over \(rev)\(because)"
    case .expired: return "passed over \(rev): the event's deadline had passed"
    case .dead: return "could not make pushes of \(rev), event in the dead queue\(because)"
    }
  }

  private static func jobs(_ build: BuildRecord) -> String {
    let counts = [
      (build.updateJobs, "push", "pushes"), (build.startJobs, "start", "starts"),
      (build.fcmJobs, "message to Android", "messages to Android"),
    ]
    let words = counts.filter { $0.0 > 0 }.map { count, one, many in
      "\(count) \(count == 1 ? one : many)"
    }
    return words.isEmpty ? "nothing to send" : words.joined(separator: ", ")
  }

  static func text(of delivery: DeliveryRecord) -> String {
    let rev = delivery.rev > 0 ? " of rev \(delivery.rev)" : ""
    let attempt = delivery.attempt > 1 ? ", attempt \(delivery.attempt)" : ""
    return "\(delivery.event)\(rev) to \(delivery.tokenFingerprint)\(attempt): "
      + outcome(of: delivery)
  }

  /// What became of one attempt, without what was attempted.
  static func outcome(of delivery: DeliveryRecord) -> String {
    guard delivery.wasSent else { return notSent(delivery) }
    guard let status = delivery.status else {
      return "no answer (\(delivery.reason ?? "cause unknown"))\(sequel(delivery))"
    }
    let answer = "\(status)\(delivery.reason.map { " \($0)" } ?? "")"
    if let meaning = meaning(status, delivery.reason, delivery) {
      return "\(answer): \(meaning)\(sequel(delivery))"
    }
    return "\(answer)\(sequel(delivery))"
  }

  private static func notSent(_ delivery: DeliveryRecord) -> String {
    let reason = delivery.reason ?? "without a reason"
    let prefix = "superseded: "
    guard reason.hasPrefix(prefix) else { return "not sent: \(reason)" }
    let cause = String(reason.dropFirst(prefix.count))
    return cause.hasPrefix("rev ") ? reason : "not sent: \(cause)"
  }

  private static func meaning(_ status: Int, _ reason: String?, _ delivery: DeliveryRecord)
    -> String?
  {
    if delivery.event == StageName.fcm.rawValue, let text = meaningOfFCM(status, reason) {
      return text
    }
    let isWebPush = delivery.event == StageName.webpush.rawValue
    switch (status, reason) {
    case (200...202, _):
      let seconds = max(0, (delivery.settledAt - delivery.causedAt).secondsAndFraction)
      return "accepted, \(Spans.text(.milliseconds(Int64(seconds * 1000)))) after the mutation"
    case (404, _) where isWebPush, (410, _) where isWebPush:
      return "the subscription is gone"
    case (410, _): return "the token is dead"
    case (400, "BadDeviceToken"):
      return "no such token in this environment"
    case (400, "DeviceTokenNotForTopic"): return "the token belongs to another app"
    case (400, "TopicDisallowed"), (400, "MissingTopic"): return "the topic is refused"
    case (403, "ExpiredProviderToken"): return "our provider token has expired"
    case (403, _): return "our key is refused"
    case (413, _): return "too large"
    case (429, "TooManyProviderTokenUpdates"): return "our provider token changed too often"
    case (429, _): return "too many pushes to this token"
    case (500..., _): return "the push service is in trouble"
    default: return nil
    }
  }

  private static func meaningOfFCM(_ status: Int, _ reason: String?) -> String? {
    switch (status, reason) {
    case (_, "UNREGISTERED"): "the app is gone from the phone"
    case (_, "SENDER_ID_MISMATCH"): "the token belongs to another project"
    case (_, "INVALID_ARGUMENT"): "the message, or its token, is no good"
    case (401, _): "our access token is refused"
    case (403, _): "our service account is refused"
    case (404, _): "the project is not known"
    case (429, _): "too many messages"
    default: nil
    }
  }

  /// What was done about it.
  private static func sequel(_ delivery: DeliveryRecord) -> String {
    switch delivery.consequence {
    case .pruned: ", pruned"
    case .kept: ", but it was registered again, or gone already"
    case .again: ", sent again at once"
    case .retried: ", comes again"
    case .dead: ", in the dead queue"
    case .laneOpened: ", waits until the lane closes"
    case .accepted, .superseded, .expired, .stale, nil: ""
    }
  }
}

/// Spans of time as people say them.
package enum Spans {
  /// `0.250 s`, `12.3 s`, `4 min 10 s`, `3 h 2 min`, `5 d 3 h`; never negative.
  package static func text(_ span: Duration) -> String {
    let milliseconds = max(0, span.milliseconds)
    let seconds = milliseconds / 1000
    switch seconds {
    case ..<10: return "\(seconds).\(padded(milliseconds % 1000, 3)) s"
    case ..<60: return "\(seconds).\(milliseconds % 1000 / 100) s"
    case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
    case ..<86_400: return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
    default: return "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
    }
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
