import Foundation
import Vocabulary

/// A signed JSON Web Token in its compact form (RFC 7515, 7519).
package struct JSONWebToken: Sendable {
  /// The longest token read, in bytes.
  package static let bytesMax = 8 * 1024

  /// Not to be believed before the signature was checked.
  package let header: JSONValue
  private let claimsPart: Substring
  let signedText: Substring
  let signature: [UInt8]

  /// Takes a token apart, without checking its signature.
  ///
  /// - Throws: ``TokenRefusal`` when it has not the compact form.
  package init(_ text: String) throws(TokenRefusal) {
    guard text.utf8.count <= Self.bytesMax else { throw .tooLong(bytes: text.utf8.count) }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw .malformed("it has \(parts.count) parts between dots; want 3")
    }
    guard let signature = Base64URL.decode(parts[2]) else {
      throw .malformed("its signature is not base64url without padding")
    }
    header = try Self.object(parts[0], named: "header")
    claimsPart = parts[1]
    signedText = text[..<parts[1].endIndex]
    self.signature = signature
  }

  /// The claims, always an object. Not to be believed before the signature was checked.
  ///
  /// - Throws: ``TokenRefusal`` when they are not a JSON object.
  package func claims() throws(TokenRefusal) -> JSONValue {
    try Self.object(claimsPart, named: "claims")
  }

  private static func object(_ part: Substring, named name: String) throws(TokenRefusal)
    -> JSONValue
  {
    guard let bytes = Base64URL.decode(part) else {
      throw .malformed("its \(name) is not base64url without padding")
    }
    // What the parser says of a stranger's bytes helps nobody.
    guard let value = try? JSONValue(parsing: Data(bytes)), case .object = value else {
      throw .malformed("its \(name) is not a JSON object")
    }
    return value
  }
}

// MARK: Signing

extension JSONWebToken {
  /// A token signed with ES256: for APNs and VAPID, and for callers in tests.
  ///
  /// `keyID` becomes `kid`; `type` becomes `typ`. Nil leaves them out.
  package static func signed(
    claims: JSONValue, with key: SigningKey, keyID: String?, type: String? = nil
  ) -> String {
    signed(claims: claims, algorithm: "ES256", keyID: keyID, type: type) { key.sign($0) }
  }

  /// A token signed with RS256: a service account's assertion.
  package static func signed(
    claims: JSONValue, with key: RSASigningKey, keyID: String?, type: String? = nil
  ) -> String {
    signed(claims: claims, algorithm: "RS256", keyID: keyID, type: type) { key.sign($0) }
  }

  /// Whether the signature is RS256 by this key.
  package func isSigned(by key: RSASigningKey) -> Bool {
    header["alg"] == "RS256" && key.isSignature(signature, of: Array(signedText.utf8))
  }

  /// A token signed with HS256.
  package static func signed(
    claims: JSONValue, secret: [UInt8], keyID: String?, type: String? = nil
  ) -> String {
    signed(claims: claims, algorithm: "HS256", keyID: keyID, type: type) {
      HMACSHA256.code(of: $0, key: secret)
    }
  }

  private static func signed(
    claims: JSONValue, algorithm: String, keyID: String?, type: String?,
    sign: ([UInt8]) -> [UInt8]
  ) -> String {
    var header: [String: JSONValue] = ["alg": .string(algorithm)]
    if let keyID { header["kid"] = .string(keyID) }
    if let type { header["typ"] = .string(type) }
    let text =
      Base64URL.encode(JSONValue.object(header).encoded) + "." + Base64URL.encode(claims.encoded)
    return text + "." + Base64URL.encode(sign(Array(text.utf8)))
  }
}
