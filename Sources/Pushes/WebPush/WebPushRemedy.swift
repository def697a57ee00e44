import Vocabulary

/// What is done about the end of one Web Push.
package enum WebPushRemedy: Hashable, Sendable {
  /// The push service took it.
  case done
  /// The subscription is gone: mark it, while others at this host are taken.
  case pruneUnlessMany(because: String)
  /// The subscription was made with another key: the browser must subscribe anew.
  case markResubscribe(because: String)
  /// At once, once, with what can be left out left out.
  case sendShortForm(because: String)
  /// At once, once, with a VAPID token made anew.
  case renewToken(because: String)
  /// Ours to mend; no repetition will help.
  case dead(because: String)
  /// The ladder, not before `notBefore`.
  case retry(notBefore: Duration, because: String)
}

extension WebPushOutcome {
  private static let waitWithoutAnswer: Duration = .seconds(5)
  private static let waitAfterServerFault: Duration = .seconds(30)
  private static let waitWhenTooMany: Duration = .seconds(30)
  /// A person has to act; the job may outlast that.
  private static let waitWhenRefused: Duration = .seconds(600)

  /// The table of answers, the only place that knows it. What is not listed is decided by its
  /// status and never counts as success.
  ///
  /// `isShort`, `hasRenewedToken`: whether the job went out in its short form, and with a token
  /// made anew.
  ///
  /// Source: RFC 8030; research/push-systems.md 4.1.
  package func remedy(isShort: Bool, hasRenewedToken: Bool) -> WebPushRemedy {
    switch self {
    case .unanswered(let cause): .retry(notBefore: Self.waitWithoutAnswer, because: cause)
    case .forbidden(let cause): .dead(because: cause)
    case .answered(let answer):
      Self.remedy(answer, isShort: isShort, hasRenewedToken: hasRenewedToken)
    }
  }

  private static func remedy(_ answer: WebPushAnswer, isShort: Bool, hasRenewedToken: Bool)
    -> WebPushRemedy
  {
    let words = "\(answer.status) \(answer.reason ?? "without a reason")"
    if answer.isKeyMismatch { return .markResubscribe(because: words) }
    switch answer.status {
    case 200, 201, 202: return .done
    case 404, 410: return .pruneUnlessMany(because: "\(answer.status)")
    case 401, 403:
      return hasRenewedToken
        ? .retry(notBefore: waitWhenRefused, because: words) : .renewToken(because: words)
    case 413: return isShort ? .dead(because: words) : .sendShortForm(because: words)
    case 429:
      return .retry(notBefore: max(waitWhenTooMany, answer.retryAfter ?? .zero), because: words)
    case 300..<400: return .dead(because: "\(words); redirects are not followed")
    case 408, 500...:
      return .retry(
        notBefore: max(waitAfterServerFault, answer.retryAfter ?? .zero), because: words)
    case 400..<500: return .dead(because: words)
    default: return .retry(notBefore: waitAfterServerFault, because: words)
    }
  }
}
