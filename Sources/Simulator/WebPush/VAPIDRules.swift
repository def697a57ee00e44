import Cryptography
import Foundation
import Vocabulary

/// What push services ask of `Authorization: vapid t=<token>, k=<key>`.
/// Source: RFC 8292; research/push-systems.md 4.3 and 4.4 (Apple on `sub`, Mozilla on `exp`).
struct VAPIDRules {
  /// How far `exp` may lie ahead.
  static let lifeMax = Duration.seconds(24 * 3600)
  private static let deadEnds: Set<Substring> = ["localhost", "local", "invalid"]

  let origin: String

  func check(_ authorization: String?, vapidKey: String, at now: UnixTime) throws(WebPushRefusal) {
    guard let authorization, let credentials = Self.credentials(in: authorization) else {
      throw .missingToken
    }
    guard let point = Base64URL.decode(credentials.key), P256Point.isOnCurve(point) else {
      throw .badToken("k is no point of P-256 in base64url")
    }
    guard credentials.key == vapidKey else { throw .otherKey }
    let claims: JSONValue
    do {
      claims = try JSONWebToken(credentials.token).claims()
    } catch {
      throw .badToken("\(error)")
    }
    // Before the signature: its own look at `exp` allows some seconds, services allow none.
    try check(claims, at: now)
    do {
      _ = try JSONWebKeySet(point: point, id: "k").verify(credentials.token, now: now)
    } catch {
      throw .badToken("\(error)")
    }
  }

  private func check(_ claims: JSONValue, at now: UnixTime) throws(WebPushRefusal) {
    guard claims["aud"] == .string(origin) else {
      throw .badToken("aud is \(Self.shown(claims["aud"])), want \(origin)")
    }
    let expiry: UnixTime
    switch claims["exp"] {
    case .integer(let seconds): expiry = UnixTime(seconds: seconds)
    case .number(let seconds) where abs(seconds) < 1e12:
      expiry = UnixTime(milliseconds: Int64(seconds * 1000))
    case let other: throw .badToken("exp is \(Self.shown(other)), want a number of seconds")
    }
    guard now < expiry else { throw .badToken("exp has passed") }
    guard expiry - now <= Self.lifeMax else { throw .badToken("exp is more than a day ahead") }
    guard case .string(let subject) = claims["sub"], Self.isReachable(subject) else {
      throw .badToken(
        "sub is \(Self.shown(claims["sub"])), want mailto:name@domain or https://domain")
    }
  }

  /// Nil unless both `t` and `k` are there, once.
  private static func credentials(in text: String) -> (token: String, key: String)? {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "vapid" else { return nil }
    var found: [Substring: String] = [:]
    for pair in parts[1].split(separator: ",") {
      let halves = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      guard halves.count == 2, found.updateValue(String(halves[1]), forKey: halves[0]) == nil else {
        return nil
      }
    }
    guard let token = found["t"], let key = found["k"] else { return nil }
    return (token, key)
  }

  private static func isReachable(_ subject: String) -> Bool {
    guard !subject.contains(where: { " <>".contains($0) }) else { return false }
    let host: Substring
    if subject.hasPrefix("mailto:") {
      let parts = subject.dropFirst(7).split(separator: "@", omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else { return false }
      host = parts[1]
    } else if subject.hasPrefix("https://") {
      host = subject.dropFirst(8).prefix { !"/:?#".contains($0) }
    } else {
      return false
    }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    return labels.count > 1 && labels.allSatisfy { !$0.isEmpty }
      && !deadEnds.contains(labels.last ?? "")
  }

  private static func shown(_ value: JSONValue?) -> String {
    value.map { String(decoding: $0.encoded.prefix(80), as: UTF8.self) } ?? "absent"
  }
}

extension JSONWebKeySet {
  /// One ES256 key: `point` is uncompressed, 65 bytes, the first is 4.
  init(point: [UInt8], id: String) throws(JSONWebKeySetError) {
    let key: JSONValue = [
      "kty": "EC", "crv": "P-256", "kid": .string(id),
      "x": .string(Base64URL.encode(point.dropFirst().prefix(32))),
      "y": .string(Base64URL.encode(point.dropFirst(33))),
    ]
    try self.init(parsing: JSONValue.object(["keys": [key]]).encoded)
  }
}
