import Foundation
import Vocabulary

/// The one access token that all messages go out with: when it is asked for, and by whom. Pure.
///
/// Single-flight: while a request for a token runs, nobody begins another. Each token has a number,
/// so that a refusal of an older one does not throw away the newer.
package struct AccessTokens: Sendable {
  /// Before a token ends another is asked for, and the old one serves until it comes.
  package static let renewedBefore: Duration = .seconds(300)
  /// Between a failed request and the next.
  package static let pauseAfterFailure: Duration = .seconds(10)
  /// A token of less life is used for so long all the same, so that Google is not asked each time.
  private static let lifeMin: Duration = .seconds(60)

  package struct Token: Hashable, Sendable {
    package let number: Int
    package let text: String
    /// By the steady clock.
    let renewAt: Duration
    let endsAt: Duration
  }

  private var token: Token?
  private var isAsking = false
  private var nextNumber = 1
  /// By the steady clock.
  private var notBefore: Duration?
  /// How the last request failed; nil when it did not.
  package private(set) var trouble: NoAccessToken?

  package init() {}

  /// What messages go out with now; nil while there is none.
  package func current(elapsed: Duration) -> Token? {
    token.flatMap { elapsed < $0.endsAt ? $0 : nil }
  }

  /// Whether whoever asks should request a token now; then it counts as requested until
  /// ``granted(_:life:elapsed:)`` or ``failed(_:elapsed:)``.
  package mutating func shouldAsk(elapsed: Duration) -> Bool {
    guard !isAsking, notBefore.map({ elapsed >= $0 }) ?? true,
      token.map({ elapsed >= $0.renewAt }) ?? true
    else { return false }
    isAsking = true
    return true
  }

  /// No token, and none is being asked for: what waits for one cannot go out now.
  package func isHopeless(elapsed: Duration) -> Bool {
    current(elapsed: elapsed) == nil && !isAsking && notBefore.map { elapsed < $0 } ?? false
  }

  package mutating func granted(_ text: String, life: Duration, elapsed: Duration) {
    let life = max(life, Self.lifeMin)
    let renewAt = elapsed + max(life - Self.renewedBefore, life / 2)
    token = Token(number: nextNumber, text: text, renewAt: renewAt, endsAt: elapsed + life)
    nextNumber += 1
    isAsking = false
    notBefore = nil
    trouble = nil
  }

  package mutating func failed(_ trouble: NoAccessToken, elapsed: Duration) {
    isAsking = false
    notBefore = elapsed + Self.pauseAfterFailure
    self.trouble = trouble
  }

  /// FCM refused the token of this number: it is not used any more. One that came since stays.
  package mutating func refused(_ number: Int) {
    if token?.number == number { token = nil }
  }
}

/// Why there is no access token.
package struct NoAccessToken: Hashable, Sendable {
  package let reason: String
  /// Google refused our credentials: a person must mend them. False: it did not answer, or fails.
  package let isRefusal: Bool

  package init(_ cause: String, isRefusal: Bool) {
    reason = "no access token: \(cause)"
    self.isRefusal = isRefusal
  }
}

/// What the token endpoint answers (RFC 6749, 5.1 and 5.2).
package enum AccessTokenAnswer: Hashable, Sendable {
  case granted(String, life: Duration)
  case refused(NoAccessToken)

  private static let reasonMax = 200

  package init(status: Int, body: Data) {
    // What is no JSON tells no more than its status.
    let json = try? JSONValue(parsing: body)
    if status == 200, case .string(let token)? = json?["access_token"], !token.isEmpty {
      // RFC 6749 only recommends to say how long.
      var life: Int64 = 3600
      if case .integer(let seconds)? = json?["expires_in"] { life = seconds }
      self = .granted(token, life: .seconds(min(max(life, 0), 86_400)))
      return
    }
    let words = ["error", "error_description"].compactMap { name -> String? in
      if case .string(let text)? = json?[name] { return text }
      return nil
    }
    let reason = (["\(status)"] + words).joined(separator: " ")
    let isRefusal = (400..<500).contains(status) && ![408, 429].contains(status)
    self = .refused(
      NoAccessToken(String(reason.prefix(Self.reasonMax)), isRefusal: isRefusal))
  }
}
