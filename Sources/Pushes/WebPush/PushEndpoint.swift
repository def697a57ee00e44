/// The URL that a push service gave a browser. Taken apart by rules of our own, narrower than any
/// URL parser's, so that no two parsers can read two hosts in it.
package struct PushEndpoint: Hashable, Sendable {
  /// The longest taken, in bytes; those of Windows are the longest, with some 500.
  package static let bytesMax = 2048
  /// RFC 1035.
  private static let hostBytesMax = 253

  package let text: String
  /// In lower case; a name, or digits with dots.
  package let host: String
  package let port: Int

  /// - Throws: ``PushEndpointError`` naming what is wrong with it.
  package init(_ text: String) throws(PushEndpointError) {
    guard text.utf8.count <= Self.bytesMax else { throw .tooLong(bytes: text.utf8.count) }
    guard let end = text.firstRange(of: "://") else { throw .notHTTPS(scheme: "") }
    let scheme = text[..<end.lowerBound]
    guard scheme == "https" else { throw .notHTTPS(scheme: String(scheme.prefix(20))) }
    // Backslash: browsers read it as a slash, other parsers do not.
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }) else {
      throw .strangeCharacter
    }
    guard !text.contains("#") else { throw .fragment }
    let rest = text[end.upperBound...]
    guard let slash = rest.firstIndex(where: { "/?".contains($0) }), rest[slash] == "/" else {
      throw .noPath
    }
    let authority = rest[..<slash]
    guard !authority.contains("@") else { throw .userInfo }
    guard !authority.hasPrefix("[") else { throw .address }
    let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2, let name = parts.first?.lowercased(), Self.isHost(name) else {
      throw .malformedHost
    }
    if parts.count == 2 {
      guard (1...5).contains(parts[1].utf8.count),
        parts[1].utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(parts[1]),
        (1...65_535).contains(number)
      else { throw .malformedHost }
      port = number
    } else {
      port = 443
    }
    self.text = text
    host = name
  }

  /// What a VAPID token is made for: scheme, host, and the port unless it is 443.
  package var origin: String { "https://\(host)" + (port == 443 ? "" : ":\(port)") }

  /// Whether the host is an address instead of a name, in any of the spellings that resolvers
  /// take: no top-level domain begins with a digit.
  package var isAddress: Bool {
    host.split(separator: ".").last?.first?.isNumber ?? true
  }

  private static func isHost(_ text: String) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    return text.utf8.count <= hostBytesMax
      && labels.allSatisfy { label in
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
          && label.utf8.allSatisfy {
            (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
          }
      }
  }
}

/// Why an endpoint is refused. Never repeats the endpoint: whoever knows it may flood the browser.
package enum PushEndpointError: Error, Hashable, CustomStringConvertible {
  case tooLong(bytes: Int)
  case notHTTPS(scheme: String)
  case strangeCharacter
  case fragment
  case noPath
  case userInfo
  case address
  case malformedHost
  case port(Int)
  case unknownHost(String)

  package var description: String {
    switch self {
    case .tooLong(let bytes): "has \(bytes) bytes, want at most \(PushEndpoint.bytesMax)"
    case .notHTTPS(let scheme): "has the scheme \"\(scheme)\", want https"
    case .strangeCharacter: "holds a character that no endpoint has"
    case .fragment: "has a fragment, want none"
    case .noPath: "has no path, want the whole URL that the browser was given"
    case .userInfo: "has a user or password, want none"
    case .address: "names an address, want the name of a push service"
    case .malformedHost: "has a malformed host or port"
    case .port(let port): "has port \(port), want 443"
    case .unknownHost(let host):
      "has the host \(host.prefix(100)), which is no push service that this server sends to"
    }
  }
}
