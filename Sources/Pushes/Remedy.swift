import Vocabulary

/// What is done about the end of one push.
package enum Remedy: Hashable, Sendable {
  /// APNs took it; the token is proven good.
  case done
  /// The token is dead: mark it, unless it was registered again after `diedAt` (nil: while the push
  /// was in flight).
  case pruneToken(because: String, diedAt: UnixTime?)
  /// The token is refused, which also happens to good tokens when a topic or an environment is
  /// configured wrongly: mark it only while others are accepted.
  case pruneTokenUnlessMany(because: String)
  /// Perhaps it belongs to Apple's other service: one try there, then as refused.
  case tryOtherEnvironment
  /// Ours to mend; no repetition will help.
  case dead(because: String)
  /// At once, once, with a new provider token on a new connection.
  case renewProviderToken
  /// Nothing on this lane can be delivered until a person has acted.
  case openLane(because: String)
  /// At once on another connection while the job is on its first visit and has gone out fewer than
  /// three times; then the ladder.
  case sendAgain(because: String)
  /// The ladder, not before `wait`.
  case retry(notBefore: Duration, because: String)
}

extension Remedy {
  /// Whether the answer says something of the whole lane: it goes, or it does not.
  package var decidesLane: Bool {
    switch self {
    case .done, .openLane: true
    case .pruneToken, .pruneTokenUnlessMany, .tryOtherEnvironment, .dead, .renewProviderToken,
      .sendAgain, .retry:
      false
    }
  }
}

/// What a remedy depends on besides the answer.
package struct PushCircumstances: Hashable, Sendable {
  package let isLiveActivity: Bool
  /// Whether APNs ever accepted a push to this token in this environment.
  package let isProven: Bool
  /// Whether this job already went to the other environment.
  package let triedOtherEnvironment: Bool
  /// Whether it went to a channel.
  package let isBroadcast: Bool

  package init(
    isLiveActivity: Bool, isProven: Bool, triedOtherEnvironment: Bool, isBroadcast: Bool = false
  ) {
    self.isLiveActivity = isLiveActivity
    self.isProven = isProven
    self.triedOtherEnvironment = triedOtherEnvironment
    self.isBroadcast = isBroadcast
  }
}

extension PushOutcome {
  /// It failed for no reason of the push's own: many of these mean that the service is down.
  package var isServiceFault: Bool {
    switch self {
    case .neverProcessed, .unanswered: true
    case .answered(let answer): answer.status >= 500
    }
  }

  /// APNs may have taken it, though nobody said so.
  package var mayHaveArrived: Bool {
    switch self {
    case .unanswered: true
    case .neverProcessed: false
    case .answered(let answer): answer.status == 200
    }
  }

  /// Apple: a 5xx may be tried again after 15 minutes. A Live Activity's state is not true for so
  /// long, so its newest state goes out as soon as the service may be well again.
  private static let alertWaitAfterServerFault: Duration = .seconds(900)
  private static let activityWaitAfterServerFault: Duration = .seconds(30)
  private static let waitWhenTooMany: Duration = .seconds(30)

  /// The table of answers, the only place that knows it. An unknown reason is decided by its
  /// status and never counts as success.
  ///
  /// Source: developer.apple.com, "Handling notification responses from APNs".
  package func remedy(_ circumstances: PushCircumstances) -> Remedy {
    switch self {
    case .neverProcessed(let cause), .unanswered(let cause): .sendAgain(because: cause)
    case .answered(let answer): Self.remedy(answer, circumstances)
    }
  }

  private static func remedy(_ answer: PushAnswer, _ circumstances: PushCircumstances) -> Remedy {
    // First: hardly any answer needs words, and they cost more than the rest of this.
    guard answer.status != 200 else { return .done }
    let words = "\(answer.status) \(answer.reason ?? "without a reason")"
    switch (answer.status, answer.reason) {
    case (400, "FeatureNotEnabled"): return .openLane(because: words)
    // A channel is no token: nobody registers it again, so a person has to hear of it.
    case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"), (410, _):
      if circumstances.isBroadcast { return .dead(because: words) }
      return refusedToken(answer, circumstances)
    case (400, "MissingTopic"), (400, "TopicDisallowed"): return .openLane(because: words)
    case (400, "IdleTimeout"): return .sendAgain(because: words)
    case (403, "ExpiredProviderToken"): return .renewProviderToken
    case (403, _): return .openLane(because: words)
    case (429, _):
      return .retry(notBefore: max(waitWhenTooMany, answer.retryAfter ?? .zero), because: words)
    case (500..., _):
      let least =
        circumstances.isLiveActivity ? activityWaitAfterServerFault : alertWaitAfterServerFault
      return .retry(notBefore: max(least, answer.retryAfter ?? .zero), because: words)
    case (400..<500, _): return .dead(because: words)
    default: return .retry(notBefore: activityWaitAfterServerFault, because: words)
    }
  }

  private static func refusedToken(_ answer: PushAnswer, _ circumstances: PushCircumstances)
    -> Remedy
  {
    switch answer.reason {
    case let reason where answer.status == 410:
      return .pruneToken(because: reason ?? "Unregistered", diedAt: answer.timestamp)
    case "DeviceTokenNotForTopic":
      return .pruneTokenUnlessMany(because: "DeviceTokenNotForTopic")
    default:
      let knowsEnvironment = circumstances.isProven || circumstances.triedOtherEnvironment
      return knowsEnvironment
        ? .pruneTokenUnlessMany(because: "BadDeviceToken") : .tryOtherEnvironment
    }
  }
}
