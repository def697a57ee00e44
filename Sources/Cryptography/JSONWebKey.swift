import Foundation
import Vocabulary

/// How a token may be signed. Each kind of key has exactly one (RFC 7518, 3.1).
package enum SignatureAlgorithm: String, Hashable, Sendable {
  case hs256 = "HS256"
  case es256 = "ES256"
  case rs256 = "RS256"
}

/// A key that verifies tokens (RFC 7517): a shared secret, or a public key.
package struct JSONWebKey: Sendable {
  enum Material: Sendable {
    case secret([UInt8])
    case p256(AsymmetricKey)
    case rsa(AsymmetricKey)
  }

  package let id: String
  let material: Material

  /// The shortest secret in bytes: as long as the digest (RFC 7518, 3.2).
  static let secretBytesMin = 32
  /// RFC 7518, 3.3. The longest is what verifies in a millisecond still.
  static let modulusBits = 2048...8192

  package var algorithm: SignatureAlgorithm {
    switch material {
    case .secret: .hs256
    case .p256: .es256
    case .rsa: .rs256
    }
  }

  func isSignature(_ signature: [UInt8], of text: Substring) -> Bool {
    switch material {
    case .secret(let secret): HMACSHA256.isCode(signature, of: text.utf8, key: secret)
    case .rsa(let key): key.isSignature(signature, of: Array(text.utf8))
    case .p256(let key):
      RawSignature.der(fromRaw: signature).map {
        key.isSignature($0, of: Array(text.utf8))
      } ?? false
    }
  }
}

// MARK: Reading

extension JSONWebKey {
  /// Reads one member of `keys`. Nil when there are problems; each is added to `problems`, without
  /// anything of the key in it.
  init?(_ value: JSONValue, problems: inout [String]) {
    guard case .object(let members) = value else {
      problems.append("is \(value.typeName); want an object")
      return nil
    }
    let before = problems.count
    let id = text("kid", of: members, problems: &problems)
    if let use = members["use"], use != "sig" { problems.append("use must be \"sig\"") }
    let material = Material(members, problems: &problems)
    guard let id, let material, problems.count == before else { return nil }
    self.id = id
    self.material = material
    if let given = members["alg"], given != .string(algorithm.rawValue) {
      problems.append("alg does not fit kty; want \"\(algorithm.rawValue)\" or no alg")
      return nil
    }
  }
}

extension JSONWebKey.Material {
  fileprivate init?(_ members: [String: JSONValue], problems: inout [String]) {
    switch members["kty"] {
    case "oct": self.init(secret: members, problems: &problems)
    case "EC": self.init(ellipticCurve: members, problems: &problems)
    case "RSA": self.init(rsa: members, problems: &problems)
    default:
      problems.append("kty must be \"oct\", \"EC\" or \"RSA\"")
      return nil
    }
  }

  private init?(secret members: [String: JSONValue], problems: inout [String]) {
    guard let secret = bytes("k", of: members, problems: &problems) else { return nil }
    guard secret.count >= JSONWebKey.secretBytesMin else {
      problems.append("k has \(secret.count) bytes; want at least \(JSONWebKey.secretBytesMin)")
      return nil
    }
    self = .secret(secret)
  }

  private init?(ellipticCurve members: [String: JSONValue], problems: inout [String]) {
    refusePrivatePart(of: members, problems: &problems)
    guard members["crv"] == "P-256" else {
      problems.append("crv must be \"P-256\"")
      return nil
    }
    let x = bytes("x", of: members, problems: &problems)
    let y = bytes("y", of: members, problems: &problems)
    guard let x, let y else { return nil }
    guard x.count == 32, y.count == 32 else {
      problems.append("x and y have \(x.count) and \(y.count) bytes; want 32 each")
      return nil
    }
    guard let key = AsymmetricKey.p256(x: x, y: y) else {
      problems.append("x and y are no point of P-256")
      return nil
    }
    self = .p256(key)
  }

  private init?(rsa members: [String: JSONValue], problems: inout [String]) {
    refusePrivatePart(of: members, problems: &problems)
    let n = bytes("n", of: members, problems: &problems)
    let e = bytes("e", of: members, problems: &problems)
    guard let n, let e else { return nil }
    let bits = n.count * 8 - (n.first?.leadingZeroBitCount ?? 0)
    guard JSONWebKey.modulusBits.contains(bits) else {
      let range = JSONWebKey.modulusBits
      problems.append("n has \(bits) bits; want \(range.lowerBound) to \(range.upperBound)")
      return nil
    }
    guard e.count <= 4, let last = e.last, !last.isMultiple(of: 2), e != [1] else {
      problems.append("e must be odd, above 1 and at most 4 bytes long; 65537 is usual")
      return nil
    }
    guard let key = AsymmetricKey.rsa(modulus: n, exponent: e) else {
      problems.append("n and e are no RSA key")
      return nil
    }
    self = .rsa(key)
  }
}

private func refusePrivatePart(of members: [String: JSONValue], problems: inout [String]) {
  if members["d"] != nil {
    problems.append("holds the private part, d; want the public key only")
  }
}

private func text(_ name: String, of members: [String: JSONValue], problems: inout [String])
  -> String?
{
  guard case .string(let text)? = members[name], !text.isEmpty else {
    problems.append("\(name) is missing or no string; want one")
    return nil
  }
  return text
}

private func bytes(_ name: String, of members: [String: JSONValue], problems: inout [String])
  -> [UInt8]?
{
  guard let text = text(name, of: members, problems: &problems) else { return nil }
  guard let bytes = Base64URL.decode(text) else {
    problems.append("\(name) is not base64url without padding")
    return nil
  }
  return bytes
}
