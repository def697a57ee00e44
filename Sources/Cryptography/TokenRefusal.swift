/// Why a caller's token is not taken, in words for the caller. Never holds a part of a key or of
/// the token's signature.
package enum TokenRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  case tooLong(bytes: Int)
  /// Not three parts of base64url, or a part that is not a JSON object.
  case malformed(String)
  case algorithm(given: String, wanted: String)
  case noKeyID
  case unknownKey(id: String)
  case badSignature
  case noExpiry
  /// A claim that has not the type it must have.
  case wrongType(claim: String, given: String, wanted: String)
  case missing(claim: String, wanted: String)
  /// Issued by somebody else, or for somebody else.
  case other(claim: String, given: [String], wanted: String)
  case expired(secondsAgo: Int)
  /// `iat` or `nbf` lies ahead.
  case notYet(claim: String, secondsAhead: Int)

  package var description: String {
    switch self {
    case .tooLong(let bytes):
      "The token has \(bytes) bytes; want at most \(JSONWebToken.bytesMax)."
    case .malformed(let detail): "The token is malformed: \(detail)."
    case .algorithm(let given, let wanted):
      "The token's alg is \"\(given.prefix(20))\"; its key wants \(wanted)."
    case .noKeyID: "The token has no kid; it is needed where there is more than one key."
    case .unknownKey(let id): "The token's kid \"\(id.prefix(64))\" names no key known here."
    case .badSignature: "The token's signature does not fit its content."
    case .noExpiry: "The token has no exp; want one."
    case .wrongType(let claim, let given, let wanted):
      "The token's \(claim) is \(given); want \(wanted)."
    case .missing(let claim, let wanted): "The token has no \(claim); want \"\(wanted)\"."
    case .other(let claim, let given, let wanted):
      "The token's \(claim) is \(Self.shown(given)); want \"\(wanted)\"."
    case .expired(let secondsAgo): "The token expired \(secondsAgo) s ago."
    case .notYet(let claim, let secondsAhead):
      "The token's \(claim) lies \(secondsAhead) s ahead."
    }
  }

  private static func shown(_ texts: [String]) -> String {
    guard !texts.isEmpty else { return "empty" }
    let rest = texts.count > 3 ? " and others" : ""
    return texts.prefix(3).map { "\"\($0.prefix(64))\"" }.joined(separator: ", ") + rest
  }
}
