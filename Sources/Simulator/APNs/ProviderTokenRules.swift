import Cryptography
import Vocabulary

/// What APNs asks of the JSON web token in `authorization`.
/// Source: research on "Establishing a token-based connection to APNs", developer.apple.com.
package struct ProviderTokenRules: Sendable {
  /// A token older than this is refused.
  package static let ageMax = Duration.seconds(3600)
  /// How far a token's `iat` may lie ahead.
  package static let aheadMax = Duration.seconds(300)
  /// On one connection a new token may come this long after the one before it, not sooner.
  package static let updateIntervalMin = Duration.seconds(1200)

  private let teamID: String
  private let keys: JSONWebKeySet

  /// - Parameters:
  ///   - keyID: what `kid` must be.
  ///   - teamID: what `iss` must be.
  ///   - publicKey: the point on P-256, uncompressed: 65 bytes, the first is 4.
  /// - Throws: ``SettingsError`` when the key is none.
  package init(keyID: String, teamID: String, publicKey: [UInt8]) throws(SettingsError) {
    self.teamID = teamID
    do {
      keys = try JSONWebKeySet(point: publicKey, id: keyID)
    } catch {
      throw SettingsError(error.problems.map { "the provider token's public key: \($0)" })
    }
  }

  func check(
    _ authorization: String?, on connection: inout ProviderTokenHistory, at now: UnixTime
  ) throws(APNsRefusal) {
    guard let authorization, !authorization.isEmpty else { throw .missingProviderToken }
    let parts = authorization.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].lowercased() == "bearer", !parts[1].isEmpty else {
      throw .missingProviderToken
    }
    let token = String(parts[1])
    let claims: JSONValue
    do {
      let read = try JSONWebToken(token)
      // One algorithm is allowed and the header must name the key; the set takes a token without
      // `kid` when it holds only one key.
      guard read.header["kid"] != nil else { throw APNsRefusal.invalidProviderToken }
      claims = try read.claims()
    } catch {
      throw .invalidProviderToken
    }
    // On the same connection the same token has been checked before.
    guard connection.token == token || isSigned(token, at: now),
      claims["iss"] == .string(teamID), let issued = issueTime(claims)
    else { throw .invalidProviderToken }
    guard now - issued <= Self.ageMax, issued - now <= Self.aheadMax else {
      throw .expiredProviderToken
    }
    try connection.note(token, at: now)
  }

  /// A provider token has no `exp`, which the key set asks for once the signature was found good.
  private func isSigned(_ token: String, at now: UnixTime) -> Bool {
    do {
      _ = try keys.verify(token, now: now)
      return true
    } catch {
      switch error {
      case .noExpiry, .expired, .notYet: return true
      default: return false
      }
    }
  }

  /// `iat` is a number of seconds; APNs was seen to take a string, which is no promise.
  private func issueTime(_ claims: JSONValue) -> UnixTime? {
    switch claims["iat"] {
    case .integer(let seconds) where (0...PayloadContract.secondsMax).contains(seconds):
      UnixTime(seconds: seconds)
    case .number(let seconds) where (0...Double(PayloadContract.secondsMax)).contains(seconds):
      UnixTime(milliseconds: Int64(seconds * 1000))
    default: nil
    }
  }
}

/// The provider token that one connection uses, and since when.
package struct ProviderTokenHistory: Hashable, Sendable {
  package private(set) var token: String?
  private var since: UnixTime?

  package init() {}

  mutating func note(_ new: String, at now: UnixTime) throws(APNsRefusal) {
    guard new != token else { return }
    if let since, now - since < ProviderTokenRules.updateIntervalMin {
      throw .tooManyProviderTokenUpdates
    }
    token = new
    since = now
  }
}
