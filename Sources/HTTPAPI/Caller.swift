import Cryptography
import HTTPServing
import Vocabulary

/// What a token allows.
enum Scope: String, Hashable, Sendable {
  /// The default: everything a person does for itself.
  case user
  /// The kitchen.
  case service
  /// Operators. Nothing on the public port needs it.
  case ops
}

/// Who asks, proven by a bearer token.
struct Caller: Hashable, Sendable {
  /// The longest `sub`, in Unicode scalars.
  static let subjectMax = 128

  let userID: UserID
  let scopes: Set<Scope>

  /// - Throws: 401, saying what is wrong with the token.
  init(of request: HTTPRequest, keys: JSONWebKeySet, now: UnixTime) throws(Problem) {
    guard let field = request.header("authorization") else {
      throw .unauthorized("Authorization is missing, want Bearer and a token.", error: nil)
    }
    let parts = field.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else {
      throw .unauthorized("Authorization has another form, want Bearer and a token.", error: nil)
    }
    let claims: JSONValue
    do {
      claims = try keys.verify(String(parts[1]), now: now)
    } catch {
      throw .unauthorized("\(error)", error: "invalid_token")
    }
    guard case .string(let subject)? = claims["sub"] else {
      throw .unauthorized("The token has no sub; want the user's id.", error: "invalid_token")
    }
    let length = subject.unicodeScalars.count
    guard (1...Self.subjectMax).contains(length), !subject.utf8.contains(where: { $0 < 0x20 })
    else {
      throw .unauthorized(
        "The token's sub has \(length) characters; want 1 to \(Self.subjectMax), none of them a"
          + " control character.", error: "invalid_token")
    }
    userID = UserID(subject)
    if case .string(let text)? = claims["scope"] {
      scopes = Set(text.split(separator: " ").compactMap { Scope(rawValue: String($0)) })
    } else {
      scopes = [.user]
    }
  }

  /// - Throws: 403 when the token has none of `wanted`.
  func require(oneOf wanted: Set<Scope>) throws(Problem) {
    guard scopes.isDisjoint(with: wanted) else { return }
    throw .forbidden(wanted: wanted.map(\.rawValue).sorted())
  }
}

extension Problem {
  /// A 401; `error` is RFC 6750's code, nil when no token came at all.
  static func unauthorized(_ detail: String, error: String?) -> Problem {
    let why = error.map { ", error=\"\($0)\", error_description=\"\(quotable(detail))\"" } ?? ""
    return Problem(
      status: 401, name: "unauthorized", title: "Unauthorized", detail: detail,
      headers: [("www-authenticate", "Bearer realm=\"lockstep\"\(why)")])
  }

  static func forbidden(wanted: [String]) -> Problem {
    let scopes = wanted.joined(separator: " ")
    return Problem(
      status: 403, name: "insufficient-scope", title: "Insufficient scope",
      detail: "The token's scope does not allow this, want \(wanted.joined(separator: " or ")).",
      headers: [
        (
          "www-authenticate",
          "Bearer realm=\"lockstep\", error=\"insufficient_scope\", scope=\"\(scopes)\""
        )
      ])
  }

  /// What RFC 6750 allows in `error_description`; a detail may quote what a stranger sent.
  private static func quotable(_ text: String) -> String {
    String(
      decoding: text.utf8.map { byte in
        let isAllowed = (0x20...0x7E).contains(byte) && byte != 0x22 && byte != 0x5C
        return isAllowed ? byte : UInt8(ascii: "'")
      }, as: UTF8.self)
  }
}
