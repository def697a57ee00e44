/// An app's bundle id, as Apple allows one, without any suffix. Topics are made of it, and APNs
/// refuses all pushes of a topic that is wrong.
///
/// Source: developer.apple.com, "CFBundleIdentifier".
package struct BundleID: Hashable, Sendable {
  /// Apple's own limit, in characters.
  package static let charactersMax = 155
  /// What a Live Activity's topic has behind the bundle id.
  package static let activitySuffix = ".push-type.liveactivity"
  /// Broadcasts have no topic; their lane is called so, because what stops them stops no other
  /// push.
  package static let broadcastSuffix = ".broadcast"

  package let text: String

  /// - Throws: ``BundleIDError``, which says what is wanted.
  package init(_ text: String) throws(BundleIDError) {
    guard !text.hasSuffix(Self.activitySuffix) else { throw .hasSuffix }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard text.count <= Self.charactersMax, parts.allSatisfy({ !$0.isEmpty }),
      text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0)) })
    else { throw .malformed }
    self.text = text
  }
}

package enum BundleIDError: Error, Hashable, CustomStringConvertible {
  case malformed
  case hasSuffix

  package var description: String {
    switch self {
    case .malformed: "want a bundle id such as app.example.cook"
    case .hasSuffix: "want the bundle id without \(BundleID.activitySuffix); it is added"
    }
  }
}
