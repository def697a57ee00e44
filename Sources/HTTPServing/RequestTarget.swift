/// What stands between method and version in a request line, taken apart.
package struct RequestTarget: Sendable {
  package let path: String
  package let rawPath: String
  package let query: [(name: String, value: String)]

  /// Reads `/path?query`, `http://host/path?query` and `*` (RFC 9112, 3.2).
  ///
  /// Nil when it is something else, or holds a `%` without two hexadecimal digits, or bytes that
  /// are not UTF-8.
  package init?(_ text: String) {
    let target = Self.withoutOrigin(text[...])
    let end = target.firstIndex(of: "?") ?? target.endIndex
    let rawPath = target[..<end]
    guard rawPath.first == "/" || rawPath == "*",
      let path = percentDecoded(rawPath.utf8, plusIsSpace: false)
    else { return nil }
    var query: [(name: String, value: String)] = []
    if end < target.endIndex {
      let parameters = target[target.index(after: end)...]
      for parameter in parameters.split(separator: "&", omittingEmptySubsequences: true) {
        let parts = parameter.split(
          separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = percentDecoded(parts[0].utf8, plusIsSpace: true),
          let value = parts.count == 1 ? "" : percentDecoded(parts[1].utf8, plusIsSpace: true)
        else { return nil }
        query.append((name, value))
      }
    }
    self.path = path
    self.rawPath = String(rawPath)
    self.query = query
  }

  private static func withoutOrigin(_ text: Substring) -> Substring {
    guard text.first != "/" else { return text }
    for scheme in ["http://", "https://"] where text.lowercased().hasPrefix(scheme) {
      let authority = text.dropFirst(scheme.count)
      return authority.firstIndex(of: "/").map { authority[$0...] } ?? "/"
    }
    return text
  }
}

/// `bytes` with each `%XX` replaced by its octet; nil when a `%` has not two hexadecimal digits
/// after it, or the result is not UTF-8.
func percentDecoded(_ bytes: Substring.UTF8View, plusIsSpace: Bool) -> String? {
  var octets: [UInt8] = []
  octets.reserveCapacity(bytes.count)
  var rest = bytes.makeIterator()
  while let byte = rest.next() {
    switch byte {
    case UInt8(ascii: "%"):
      guard let high = rest.next().flatMap(hexDigitValue),
        let low = rest.next().flatMap(hexDigitValue)
      else { return nil }
      octets.append(high << 4 | low)
    case UInt8(ascii: "+") where plusIsSpace: octets.append(UInt8(ascii: " "))
    default: octets.append(byte)
    }
  }
  return String(validating: octets, as: UTF8.self)
}

private func hexDigitValue(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}
