import Cryptography

/// A key that proves to push services who sends (RFC 8292).
package struct VAPIDKey: Sendable {
  package let signing: SigningKey
  /// Its public point, base64url of 65 octets: what a page subscribes with.
  package let id: String

  package init(_ signing: SigningKey) {
    self.signing = signing
    id = Base64URL.encode(signing.publicKey)
  }
}

/// The keys of one key file. A subscription is bound to the key it was made with for life, so old
/// keys stay in the file, after the new one.
package struct VAPIDKeys: Sendable {
  /// New subscriptions are made with it.
  package let first: VAPIDKey
  private let byID: [String: VAPIDKey]

  /// Reads every private key of a PEM text.
  ///
  /// - Throws: `SigningKeyError`.
  package init(pem: String) throws(SigningKeyError) {
    let keys = try SigningKey.all(pem: pem).map { VAPIDKey($0) }
    first = keys[0]
    byID = Dictionary(keys.map { ($0.id, $0) }) { earlier, _ in earlier }
  }

  /// Nil when the file does not hold it any more.
  package subscript(id id: String) -> VAPIDKey? { byID[id] }
}

/// Whom push services may turn to when we misbehave: the claim `sub`.
package struct VAPIDSubject: Hashable, Sendable {
  package let text: String

  /// Names that only lead to the machine that asks.
  private static let deadEnds = ["localhost", "local", "invalid"]

  /// - Throws: ``VAPIDSubjectError``. Apple answers 403 to all of these, so better at start.
  package init(_ text: String) throws(VAPIDSubjectError) {
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains(where: "<>".contains)
    else { throw .strangeCharacter }
    let host: Substring
    if text.hasPrefix("mailto:") {
      let parts = text.dropFirst(7).split(separator: "@", omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else { throw .notReachable }
      host = parts[1].prefix { $0 != "?" }
    } else if text.hasPrefix("https://") {
      host = text.dropFirst(8).prefix { !"/:?#".contains($0) }
    } else {
      throw .notReachable
    }
    let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
    guard let last = labels.last, labels.allSatisfy({ !$0.isEmpty }) else { throw .notReachable }
    guard !Self.deadEnds.contains(String(last)) else { throw .deadEnd(String(host)) }
    guard labels.count > 1, last.first?.isLetter == true else { throw .notReachable }
    self.text = text
  }
}

package enum VAPIDSubjectError: Error, Hashable, CustomStringConvertible {
  case notReachable
  case strangeCharacter
  case deadEnd(String)

  package var description: String {
    switch self {
    case .notReachable: "want mailto:name@domain or https://domain, where you can be reached"
    case .strangeCharacter: "holds a space, < or >; want mailto:name@domain or https://domain"
    case .deadEnd(let host):
      "leads to \(host.prefix(100)), which Apple refuses; want a domain where you can be reached"
    }
  }
}
