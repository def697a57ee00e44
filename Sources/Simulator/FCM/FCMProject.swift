import Cryptography
import Foundation
import Vocabulary

/// The Firebase project that the stand-in for FCM serves: who may send, and the access tokens that
/// were given out. A value.
package struct FCMProject: Sendable {
  /// How long an access token counts, in seconds: less than Google's hour, so that runs see it
  /// renewed.
  package static let life: Int64 = 600
  /// Tokens remembered at most; the oldest go first.
  private static let tokensMax = 100
  /// A clock may be off by so much.
  private static let skewMax: Int64 = 300

  package let projectID: String
  package let clientEmail: String
  /// Verifies assertions; only its public half is used.
  package let key: RSASigningKey
  /// Whom assertions are for: the credentials' `token_uri`.
  package let tokenURL: String
  private var tokens: [(text: String, endsAt: UnixTime)] = []
  /// How many access tokens were given out.
  package private(set) var granted = 0

  package init(projectID: String, clientEmail: String, key: RSASigningKey, tokenURL: String) {
    self.projectID = projectID
    self.clientEmail = clientEmail
    self.key = key
    self.tokenURL = tokenURL
  }

  /// Exchanges the form's assertion for an access token.
  ///
  /// - Throws: ``FCMRefusal`` as Google words it.
  mutating func grant(form: [UInt8], mint: inout TokenMint, at now: UnixTime) throws(FCMRefusal)
    -> String
  {
    let fields = Self.fields(form)
    guard fields["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
      throw FCMRefusal(400, state: "unsupported_grant_type", "grant_type is not jwt-bearer")
    }
    try check(assertion: fields["assertion"] ?? "", at: now)
    let token = "ya29.\(mint.hex(digits: 40))"
    tokens.append((token, now + .seconds(Self.life)))
    if tokens.count > Self.tokensMax { tokens.removeFirst() }
    granted += 1
    return token
  }

  private func check(assertion: String, at now: UnixTime) throws(FCMRefusal) {
    guard let token = try? JSONWebToken(assertion), let claims = try? token.claims(),
      token.isSigned(by: key)
    else { throw FCMRefusal(400, state: "invalid_grant", "Invalid JWT Signature.") }
    func number(_ name: String) -> Int64? {
      if case .integer(let number)? = claims[name] { return number }
      return nil
    }
    guard claims["iss"] == .string(clientEmail), claims["aud"] == .string(tokenURL),
      claims["scope"] == "https://www.googleapis.com/auth/firebase.messaging"
    else { throw FCMRefusal(400, state: "invalid_grant", "Invalid iss, aud or scope.") }
    guard let issued = number("iat"), let ends = number("exp"), ends > issued,
      ends - issued <= 3600, abs(issued - now.seconds) <= Self.skewMax
    else {
      throw FCMRefusal(
        400, state: "invalid_grant",
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."
      )
    }
  }

  /// - Throws: ``FCMRefusal`` 401 unless the header carries a token that counts.
  func check(authorization: String?, at now: UnixTime) throws(FCMRefusal) {
    let text = authorization?.split(separator: " ").last.map(String.init)
    guard tokens.contains(where: { $0.text == text && $0.endsAt > now }) else {
      throw FCMRefusal(
        401, state: "UNAUTHENTICATED", "Request had invalid authentication credentials.")
    }
  }

  /// Every access token stops counting, as when a key is rotated.
  mutating func revoke() { tokens = [] }

  private static func fields(_ form: [UInt8]) -> [String: String] {
    let pairs = String(decoding: form, as: UTF8.self).split(separator: "&")
    return pairs.reduce(into: [:]) { fields, pair in
      let parts = pair.split(separator: "=", maxSplits: 1).map {
        $0.removingPercentEncoding ?? String($0)
      }
      if parts.count == 2 { fields[parts[0]] = parts[1] }
    }
  }
}

/// What FCM, or Google's token endpoint, says no with.
struct FCMRefusal: Error, Hashable {
  let status: Int
  let state: String
  /// `FcmError.errorCode`; nil where there is none.
  let errorCode: String?
  let words: String

  init(_ status: Int, state: String, errorCode: String? = nil, _ words: String) {
    self.status = status
    self.state = state
    self.errorCode = errorCode
    self.words = words
  }

  /// A fault's reason is an error code of FCM.
  init(_ fault: Fault) {
    self.init(
      fault.status ?? 500, state: fault.reason ?? "INTERNAL", errorCode: fault.reason,
      "a fault that was asked for")
  }

  /// As FCM writes it.
  var body: JSONValue {
    var error: [String: JSONValue] = [
      "code": .integer(Int64(status)), "message": .string(words), "status": .string(state),
    ]
    if let errorCode {
      error["details"] = [
        [
          "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
          "errorCode": .string(errorCode),
        ]
      ]
    }
    return ["error": .object(error)]
  }
}
