import Cryptography
import Vocabulary

/// What the `authorization` header carries: one signed statement of who pushes.
package struct ProviderToken: Hashable, Sendable {
  /// `bearer` and the JWT.
  package let authorization: String
  /// Counts the tokens of one source, from 1.
  package let generation: Int
  /// Tokens of two keys never share a connection.
  package let keyID: String
  /// When who uses it should ask for the next, by the monotonic clock.
  package let refreshAt: Duration

  package init(authorization: String, generation: Int, keyID: String, refreshAt: Duration) {
    self.authorization = authorization
    self.generation = generation
    self.keyID = keyID
    self.refreshAt = refreshAt
  }

  /// The same token, due at another moment.
  func kept(until moment: Duration) -> ProviderToken {
    ProviderToken(
      authorization: authorization, generation: generation, keyID: keyID, refreshAt: moment)
  }
}

/// Gives out provider tokens: the same one to all connections of one team and key.
package protocol ProviderTokenSource: AnyObject, Sendable {
  /// The present token, a new one when it is time: for a connection that opens, or whose own token
  /// is due.
  ///
  /// - Throws: when the key cannot be read or does not sign.
  func token() throws -> ProviderToken
  /// APNs called the token of this generation expired. At most one new token comes of it, however
  /// many say so.
  ///
  /// - Returns: whether the present token is another one.
  @discardableResult
  func expired(generation: Int) -> Bool
}

/// One key and its signature.
package struct ProviderTokenSigner: Sendable {
  package let keyID: String
  /// Makes the JWT for one `iat`, whole seconds.
  package let sign: @Sendable (_ issuedAt: UnixTime) throws -> String

  package init(keyID: String, sign: @escaping @Sendable (_ issuedAt: UnixTime) throws -> String) {
    self.keyID = keyID
    self.sign = sign
  }

  /// A key of Apple's: ES256, `kid`, `iss`, integer `iat`. `pem` is the text of the `.p8` file.
  ///
  /// - Throws: `SigningKeyError`.
  package init(pem: String, keyID: String, teamID: String) throws {
    let key = try SigningKey(pem: pem)
    self.init(keyID: keyID) { issuedAt in
      JSONWebToken.signed(
        claims: ["iss": .string(teamID), "iat": .integer(issuedAt.seconds)], with: key,
        keyID: keyID)
    }
  }
}
