import Vocabulary

/// What is done about the end of one FCM message.
package enum FCMRemedy: Hashable, Sendable {
  /// FCM took it.
  case done
  /// The app is gone from the phone, or the token was never one: mark it, while others are taken.
  case pruneUnlessMany(because: String)
  /// This phone has had enough for so long: the ladder. When many have, it is the project that has.
  case waitUnlessMany(for: Duration, because: String)
  /// At once, once, with an access token made anew.
  case renewToken(because: String)
  /// Ours to mend; no repetition will help.
  case dead(because: String)
  /// FCM refuses the project or its credentials, which a person must mend: nothing is sent but
  /// probes.
  case incident(because: String)
  /// The project has sent too much: nothing is sent for so long, then a probe.
  case pause(for: Duration, because: String)
  /// The ladder, not before `notBefore`.
  case retry(notBefore: Duration, because: String)
}

extension FCMOutcome {
  private static let waitWithoutAnswer: Duration = .seconds(5)
  /// Until the next token may be asked for, and a little more.
  private static let waitWithoutToken = AccessTokens.pauseAfterFailure + .seconds(5)
  private static let waitAfterServerFault: Duration = .seconds(10)
  /// Google's rule for a quota without `Retry-After`.
  private static let waitWhenTooMany: Duration = .seconds(60)

  /// The table of answers, the only place that knows it. `FcmError.errorCode` is read before the
  /// status; what is not listed is decided by its status and never counts as success.
  ///
  /// `hasRenewedToken`: whether the message went out with an access token made anew.
  ///
  /// Source: research/push-systems.md 5.3; what a project's quota is answered with:
  /// firebase/firebase-admin-go#719.
  package func remedy(hasRenewedToken: Bool) -> FCMRemedy {
    switch self {
    case .unanswered(let cause): .retry(notBefore: Self.waitWithoutAnswer, because: cause)
    case .unauthorized(let none):
      none.isRefusal
        ? .incident(because: none.reason)
        : .pause(for: Self.waitWithoutToken, because: none.reason)
    case .answered(let answer): Self.remedy(answer, hasRenewedToken: hasRenewedToken)
    }
  }

  private static func remedy(_ answer: FCMAnswer, hasRenewedToken: Bool) -> FCMRemedy {
    if answer.status == 200 { return .done }
    let words = "\(answer.status) \(answer.reason ?? "without a reason")"
    let said = answer.words.map { "\(words): \($0)" } ?? words
    switch answer.errorCode {
    case "UNREGISTERED"?: return .pruneUnlessMany(because: words)
    case "SENDER_ID_MISMATCH"?: return .pruneUnlessMany(because: words)
    case "INVALID_ARGUMENT"?:
      // Only where FCM speaks of the token: else the message is wrong, and so are all others.
      return answer.saysThatTokenIsInvalid
        ? .pruneUnlessMany(because: words) : .dead(because: said)
    case "QUOTA_EXCEEDED"?: return tooMany(answer, words)
    case "UNAVAILABLE"?, "INTERNAL"?:
      return .retry(
        notBefore: max(waitAfterServerFault, answer.retryAfter ?? .zero), because: words)
    case "THIRD_PARTY_AUTH_ERROR"?, "APNS_AUTH_ERROR"?:
      return .incident(because: said)
    default: return byStatus(answer, words, said, hasRenewedToken: hasRenewedToken)
    }
  }

  private static func byStatus(
    _ answer: FCMAnswer, _ words: String, _ said: String, hasRenewedToken: Bool
  ) -> FCMRemedy {
    switch answer.status {
    case 401:
      return hasRenewedToken
        ? .incident(because: said) : .renewToken(because: words)
    // Of no token but of the project: the URL or the credentials are another's.
    case 403, 404: return .incident(because: said)
    case 429: return tooMany(answer, words)
    case 408, 500...:
      return .retry(
        notBefore: max(waitAfterServerFault, answer.retryAfter ?? .zero), because: words)
    case 300..<500: return .dead(because: said)
    default: return .retry(notBefore: waitAfterServerFault, because: words)
    }
  }

  private static func tooMany(_ answer: FCMAnswer, _ words: String) -> FCMRemedy {
    let wait = answer.retryAfter ?? waitWhenTooMany
    return answer.isLimitOfProject
      ? .pause(for: wait, because: words) : .waitUnlessMany(for: wait, because: words)
  }
}
