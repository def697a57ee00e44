import Foundation
import Vocabulary

/// The keys that callers' tokens are verified with (RFC 7517, 5): `{"keys": […]}`.
///
/// Several at once, each with its `kid`, so that keys can rotate: add the new one, sign with it,
/// take the old one out once its last token has expired.
package struct JSONWebKeySet: Sendable {
  package static let bytesMax = 256 * 1024
  package static let keysMax = 64
  /// How far two clocks may differ.
  package static let leewaySeconds = 60

  package let keys: [JSONWebKey]
  /// What every token's `iss` must be; nil: whoever has a key here may issue.
  package var issuer: String?
  /// What every token's `aud` must be, or hold among others; nil: not looked at.
  package var audience: String?

  /// Reads a key file.
  ///
  /// - Throws: ``JSONWebKeySetError`` with all problems at once.
  package init(parsing data: Data) throws(JSONWebKeySetError) {
    guard data.count <= Self.bytesMax else {
      throw JSONWebKeySetError(["has \(data.count) bytes; want at most \(Self.bytesMax)"])
    }
    let value: JSONValue
    do {
      value = try JSONValue(parsing: data)
    } catch {
      throw JSONWebKeySetError(["is not JSON: \(error)"])
    }
    guard case .array(let members)? = value["keys"], (1...Self.keysMax).contains(members.count)
    else {
      throw JSONWebKeySetError(["wants a member keys: an array of 1 to \(Self.keysMax) keys"])
    }
    var keys: [JSONWebKey] = []
    var problems: [String] = []
    for (place, member) in members.enumerated() {
      var found: [String] = []
      if let key = JSONWebKey(member, problems: &found) {
        if keys.contains(where: { $0.id == key.id }) {
          found.append("kid stands at an earlier key too; want each once")
        }
        keys.append(key)
      }
      var name = "keys[\(place)]"
      if case .string(let id)? = member["kid"] { name += " (kid \"\(id.prefix(64))\")" }
      problems += found.map { "\(name): \($0)" }
    }
    guard problems.isEmpty else { throw JSONWebKeySetError(problems) }
    self.keys = keys
  }

  /// Checks a token: its key and signature first, then its times, then who issued it and for whom.
  ///
  /// - Returns: the claims, an object; `exp` is there and `sub`, `scope`, `iss` and `jti` are
  ///   strings where they are.
  /// - Throws: ``TokenRefusal``.
  package func verify(_ text: String, now: UnixTime, leewaySeconds: Int = Self.leewaySeconds)
    throws(TokenRefusal) -> JSONValue
  {
    let token = try JSONWebToken(text)
    let key = try key(for: token.header)
    guard key.isSignature(token.signature, of: token.signedText) else { throw .badSignature }
    let claims = try token.claims()
    try TokenTimes(claims).check(now: now, leewaySeconds: leewaySeconds)
    for name in ["sub", "scope", "iss", "jti"] {
      guard let value = claims[name] else { continue }
      guard case .string = value else {
        throw .wrongType(claim: name, given: value.typeName, wanted: "a string")
      }
    }
    if let issuer { try Self.check("iss", of: claims, wanted: issuer) }
    if let audience { try Self.check("aud", of: claims, wanted: audience) }
    return claims
  }

  /// One string, or an array of strings with the wanted one among them (RFC 7519, 4.1.3); compared
  /// octet by octet.
  private static func check(_ name: String, of claims: JSONValue, wanted: String)
    throws(TokenRefusal)
  {
    let given: [JSONValue]
    switch claims[name] {
    case nil: throw .missing(claim: name, wanted: wanted)
    case .array(let several)?: given = several
    case let one?: given = [one]
    }
    var texts: [String] = []
    for value in given {
      guard case .string(let text) = value else {
        throw .wrongType(claim: name, given: value.typeName, wanted: "a string")
      }
      texts.append(text)
    }
    guard texts.contains(where: { $0.utf8.elementsEqual(wanted.utf8) }) else {
      throw .other(claim: name, given: texts, wanted: wanted)
    }
  }

  private func key(for header: JSONValue) throws(TokenRefusal) -> JSONWebKey {
    // RFC 7515, 4.1.11: what is critical and not understood must be refused; we understand none.
    guard header["crit"] == nil else { throw .malformed("it has crit, which is not understood") }
    let key: JSONWebKey
    switch header["kid"] {
    case .string(let id)?:
      guard let known = keys.first(where: { $0.id == id }) else { throw .unknownKey(id: id) }
      key = known
    case nil:
      guard keys.count == 1 else { throw .noKeyID }
      key = keys[0]
    case let other?:
      throw .wrongType(claim: "kid", given: other.typeName, wanted: "a string")
    }
    // The key says how a token is signed, never the token: else a public key could be used as the
    // secret of an HMAC, or "none" as a signature.
    let wanted = key.algorithm.rawValue
    guard case .string(let given)? = header["alg"] else {
      throw .algorithm(given: "", wanted: wanted)
    }
    guard given == wanted else { throw .algorithm(given: given, wanted: wanted) }
    return key
  }

  /// Signs with the first HS256 key, or the one named `keyID`: for development, where the caller of
  /// the API and its server share a secret. What ``issuer`` and ``audience`` want is added.
  ///
  /// Nil when there is no such key: public keys cannot sign.
  package func sign(claims: JSONValue, keyID: String? = nil) -> String? {
    var claims = claims
    if case .object(var members) = claims {
      for (name, value) in [("iss", issuer), ("aud", audience)] {
        if let value, members[name] == nil { members[name] = .string(value) }
      }
      claims = .object(members)
    }
    for key in keys where keyID == nil || key.id == keyID {
      guard case .secret(let secret) = key.material else { continue }
      return JSONWebToken.signed(claims: claims, secret: secret, keyID: key.id, type: "JWT")
    }
    return nil
  }
}

/// What is wrong with a key file; nothing in it is secret.
package struct JSONWebKeySetError: Error, Hashable, Sendable, CustomStringConvertible {
  /// At least one, each like `keys[0] (kid "a"): k has 12 bytes; want at least 32`.
  package let problems: [String]

  init(_ problems: [String]) { self.problems = problems }

  package var description: String { problems.joined(separator: "\n") }
}
