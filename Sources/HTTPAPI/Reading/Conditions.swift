import HTTPServing

/// `If-Match` and `If-None-Match` (RFC 9110, 13.1).
enum Conditions {
  /// A session's `ETag`: its quoted rev.
  static func tag(rev: Int) -> String { "\"\(rev)\"" }

  /// What `If-Match` allows; a rev may also come without quotes.
  enum IfMatch: Hashable {
    case anything
    case oneOf(Set<Int>)

    /// A proxy that compresses makes tags weak (`W/"7"`); the rev in it means the same.
    ///
    /// - Throws: 400 when it is neither `*` nor a list of revs.
    init(_ field: String) throws(Problem) {
      if field.trimmed == "*" {
        self = .anything
        return
      }
      var revs: Set<Int> = []
      for part in field.split(separator: ",", omittingEmptySubsequences: false) {
        guard let rev = Self.rev(String(part).trimmed) else {
          throw .malformedHeader(
            "if-match is \"\(field.prefix(100))\", want a rev such as \"7\", quoted or not, or *.")
        }
        revs.insert(rev)
      }
      self = .oneOf(revs)
    }

    private static func rev(_ text: String) -> Int? {
      var rest = text[...]
      if rest.hasPrefix("W/\"") { rest = rest.dropFirst(2) }
      if rest.count > 2, rest.first == "\"", rest.last == "\"" {
        rest = rest.dropFirst().dropLast()
      }
      guard rest.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return Int(rest)
    }

    func allows(_ rev: Int) -> Bool {
      switch self {
      case .anything: true
      case .oneOf(let revs): revs.contains(rev)
      }
    }
  }

  /// Whether the caller already has what `tag` names, so that 304 is the answer. A field that
  /// cannot be read matches nothing.
  static func isKnown(_ tag: String, to request: HTTPRequest) -> Bool {
    guard let field = request.header("if-none-match") else { return false }
    if field.trimmed == "*" { return true }
    return field.split(separator: ",").contains { part in
      let part = String(part).trimmed
      return (part.hasPrefix("W/") ? String(part.dropFirst(2)) : part) == tag
    }
  }
}

extension String {
  /// Without blanks at both ends.
  fileprivate var trimmed: String {
    var rest = self[...]
    while let first = rest.first, first.isWhitespace { rest.removeFirst() }
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return String(rest)
  }
}
