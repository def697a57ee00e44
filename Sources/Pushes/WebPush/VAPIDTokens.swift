import Cryptography
import Vocabulary

/// Makes and keeps the tokens that go with every push: one per push service and key. Pure but for
/// the signature.
package struct VAPIDTokens: Sendable {
  /// RFC 8292 allows 24 hours.
  package static let life: Duration = .seconds(12 * 3600)
  /// Before a token ends it is renewed.
  package static let renewedBefore: Duration = .seconds(3600)
  /// A token younger than this is not renewed, whatever a service says of it.
  package static let youngerThan: Duration = .seconds(3600)
  /// The wall clock was set when it and the steady one differ by more than this.
  private static let stepMin: Duration = .seconds(60)
  /// The most tokens kept.
  private static let tokensMax = 1000

  private struct Name: Hashable {
    let origin: String
    let keyID: String
  }

  private struct Token {
    let authorization: String
    let madeAt: UnixTime
    let madeAtElapsed: Duration

    /// Whether somebody set the wall clock since it was made.
    func clockWasSet(now: UnixTime, elapsed: Duration) -> Bool {
      let difference = (now - madeAt) - (elapsed - madeAtElapsed)
      return max(difference, .zero - difference) > VAPIDTokens.stepMin
    }
  }

  private let subject: VAPIDSubject
  private var tokens: [Name: Token] = [:]
  /// How many were made since the start.
  package private(set) var made = 0

  package init(subject: VAPIDSubject) { self.subject = subject }

  /// The `Authorization` header for a push to `endpoint`.
  package mutating func authorization(
    for endpoint: PushEndpoint, key: VAPIDKey, now: UnixTime, elapsed: Duration
  ) -> String {
    let name = Name(origin: endpoint.origin, keyID: key.id)
    if let token = tokens[name], elapsed - token.madeAtElapsed < Self.life - Self.renewedBefore,
      !token.clockWasSet(now: now, elapsed: elapsed)
    {
      return token.authorization
    }
    if tokens.count >= Self.tokensMax { tokens = [:] }
    let token = Token(
      authorization: authorization(for: name, key: key, now: now), madeAt: now,
      madeAtElapsed: elapsed)
    tokens[name] = token
    made += 1
    return token.authorization
  }

  /// The service refused the token: the next push gets a new one, unless this one is young.
  ///
  /// - Returns: whether the next push gets a new one.
  package mutating func refused(
    by endpoint: PushEndpoint, key: VAPIDKey, now: UnixTime, elapsed: Duration
  ) -> Bool {
    let name = Name(origin: endpoint.origin, keyID: key.id)
    guard let token = tokens[name] else { return true }
    guard
      elapsed - token.madeAtElapsed >= Self.youngerThan
        || token.clockWasSet(now: now, elapsed: elapsed)
    else { return false }
    tokens[name] = nil
    return true
  }

  private func authorization(for name: Name, key: VAPIDKey, now: UnixTime) -> String {
    let claims: JSONValue = [
      "aud": .string(name.origin), "exp": .integer((now + Self.life).seconds),
      "sub": .string(subject.text),
    ]
    let token = JSONWebToken.signed(claims: claims, with: key.signing, keyID: nil, type: "JWT")
    return "vapid t=\(token), k=\(key.id)"
  }
}
