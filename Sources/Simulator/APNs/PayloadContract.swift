import Vocabulary

/// What a push must carry so that a phone shows it. APNs answers 200 whether it does or not.
/// Source: research on "Starting and updating Live Activities with ActivityKit push notifications",
/// developer.apple.com.
package enum PayloadContract {
  /// The largest number that can be Unix seconds: one more has 12 digits, and those seen in the
  /// wild with 13 are milliseconds.
  package static let secondsMax: Int64 = 99_999_999_999

  /// Everything wrong with a push, in reading order; empty when it is as it should be.
  package static func findings(in push: AcceptedPush) -> [Finding] {
    var found: [Finding] = []
    if push.contentType != "application/json" {
      let given = push.contentType ?? "none"
      found.append(Finding(.contentType, "content-type is \(given), want application/json"))
    }
    switch (push.payload, push.type) {
    case (.failure(let failure), _): found.append(failure.finding)
    case (.success(let payload), .liveactivity): found += liveActivity(payload, use: push.use)
    case (.success(let payload), .alert): found += alert(payload)
    case (.success(let payload), .background):
      found += background(payload, priority: push.priority)
    default: break
    }
    return found
  }

  private static func liveActivity(_ payload: PushPayload, use: TokenUse) -> [Finding] {
    var found: [Finding] = []
    guard let event = payload.event else {
      let given = shown(payload.aps["event"])
      return [Finding(.event, "aps.event is \(given), want start, update or end")]
    }
    if (event == .start) != (use == .pushToStart) {
      found.append(Finding(.tokenUse, "\(event.rawValue) went to a \(use.rawValue) token"))
    }
    found += seconds("timestamp", .timestamp, in: payload, isRequired: true)
    if payload.aps["content-state"] == nil {
      found.append(Finding(.contentState, "\(event.rawValue) has no content-state"))
    }
    found += seconds("stale-date", .staleDate, in: payload, isRequired: event != .end)
    if event == .end {
      found += seconds("dismissal-date", .dismissalDate, in: payload, isRequired: false)
    } else if payload.aps["dismissal-date"] != nil {
      found.append(Finding(.dismissalDate, "\(event.rawValue) carries it; only end has an effect"))
    }
    found += relevance(payload, in: nil)
    if event == .start { found += start(payload) }
    if payload.aps["alert"] != nil, payload.aps["sound"] != nil {
      found.append(Finding(.alert, "aps.sound stands beside the alert, want it inside"))
    }
    return found
  }

  private static func start(_ payload: PushPayload) -> [Finding] {
    var found: [Finding] = []
    if (payload.text("attributes-type") ?? "").isEmpty {
      found.append(Finding(.attributesType, "start has no attributes-type"))
    }
    if payload.aps["attributes"] == nil {
      found.append(Finding(.attributes, "start has no attributes"))
    }
    found += words(payload, of: "start")
    if payload.text("input-push-channel") == nil, payload.aps["input-push-token"] != 1 {
      let given = shown(payload.aps["input-push-token"])
      found.append(Finding(.inputPushToken, "input-push-token is \(given), want 1"))
    }
    return found
  }

  private static func alert(_ payload: PushPayload) -> [Finding] {
    words(payload, of: "alert push") + relevance(payload, in: 0...1)
  }

  /// An alert's score is a share; a Live Activity's may be any number, and is only compared with
  /// the app's other activities.
  private static func relevance(_ payload: PushPayload, in range: ClosedRange<Double>?)
    -> [Finding]
  {
    let want = range.map { "a number from \($0.lowerBound) to \($0.upperBound)" } ?? "a number"
    let value = payload.aps["relevance-score"]
    let isFine =
      switch value {
      case nil: true
      case .integer(let whole): range?.contains(Double(whole)) ?? true
      case .number(let number): range?.contains(number) ?? true
      default: false
      }
    return isFine
      ? [] : [Finding(.relevanceScore, "relevance-score is \(shown(value)), want \(want)")]
  }

  private static func background(_ payload: PushPayload, priority: Int) -> [Finding] {
    var found: [Finding] = []
    if priority != 5 {
      found.append(Finding(.priority, "a background push has priority \(priority), want 5"))
    }
    switch payload.custom["resolve"] {
    case .string(let key) where !key.isEmpty: break
    case let other:
      found.append(Finding(.resolve, "resolve is \(shown(other)), want a dedupe key"))
    }
    if payload.aps["content-available"] != 1 {
      found.append(Finding(.contentAvailable, "a background push wants content-available 1"))
    }
    for name in ["alert", "sound", "badge"] where payload.aps[name] != nil {
      found.append(Finding(.contentAvailable, "a background push carries aps.\(name)"))
    }
    return found
  }

  private static func words(_ payload: PushPayload, of what: String) -> [Finding] {
    let isFilled = { (text: String?) in !(text ?? "").isEmpty }
    guard isFilled(payload.alertTitle), isFilled(payload.alertBody) else {
      return [Finding(.alert, "\(what) wants an alert with title and body")]
    }
    return []
  }

  private static func seconds(
    _ name: String, _ rule: Finding.Rule, in payload: PushPayload, isRequired: Bool
  ) -> [Finding] {
    switch payload.aps[name] {
    case nil where !isRequired: return []
    case .integer(let number) where (0...secondsMax).contains(number): return []
    case .integer(let number):
      return [Finding(rule, "aps.\(name) is \(number), want seconds since 1970")]
    case let other:
      return [Finding(rule, "aps.\(name) is \(shown(other)), want whole seconds since 1970")]
    }
  }

  private static func shown(_ value: JSONValue?) -> String {
    guard let value else { return "absent" }
    return String(decoding: value.encoded.prefix(60), as: UTF8.self)
  }
}
