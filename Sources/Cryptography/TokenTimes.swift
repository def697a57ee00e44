import Vocabulary

/// The times a token carries, in seconds since 1970 and perhaps a fraction (RFC 7519, 2 and 4.1).
struct TokenTimes {
  let expiry: Double
  let notBefore: Double?
  let issuedAt: Double?

  init(_ claims: JSONValue) throws(TokenRefusal) {
    guard let expiry = try Self.seconds("exp", of: claims) else { throw .noExpiry }
    self.expiry = expiry
    notBefore = try Self.seconds("nbf", of: claims)
    issuedAt = try Self.seconds("iat", of: claims)
  }

  /// A token counts until just before `exp`, and from `nbf` and `iat` on; clocks may differ by the
  /// leeway.
  func check(now: UnixTime, leewaySeconds: Int) throws(TokenRefusal) {
    let present = Double(now.milliseconds) / 1000
    let leeway = Double(leewaySeconds)
    guard present < expiry + leeway else {
      throw .expired(secondsAgo: Self.whole(present - expiry))
    }
    for (claim, start) in [("nbf", notBefore), ("iat", issuedAt)] {
      guard let start, start > present + leeway else { continue }
      throw .notYet(claim: claim, secondsAhead: Self.whole(start - present))
    }
  }

  private static func seconds(_ claim: String, of claims: JSONValue) throws(TokenRefusal) -> Double?
  {
    switch claims[claim] {
    case nil: nil
    case .integer(let seconds)?: Double(seconds)
    case .number(let seconds)?: seconds
    case let other?: throw .wrongType(claim: claim, given: other.typeName, wanted: "a number")
    }
  }

  // A stranger may give any number; one that no Int holds says "very long" well enough.
  private static func whole(_ seconds: Double) -> Int { Int(exactly: seconds.rounded()) ?? .max }
}
