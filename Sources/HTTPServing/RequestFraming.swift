/// Finds what makes a request ambiguous to two readers, a proxy and us (request smuggling).
/// libmicrohttpd 0.9.75 lets all of it pass.
struct RequestFraming {
  /// Octets of the body; nil when it is chunked.
  let contentLength: Int?

  /// Checks the header of a request, `version` like `HTTP/1.1` and names in lower case.
  ///
  /// - Throws: ``HTTPRefusal``; sources are RFC 9112, 3.2, 5.1, 6.1 and 6.3.
  init(version: String, headers: [(name: String, value: String)], limits: HTTPLimits)
    throws(HTTPRefusal)
  {
    var hosts = 0
    var lengths: [String] = []
    var encodings: [String] = []
    for (name, value) in headers {
      guard !name.isEmpty, name.utf8.allSatisfy(isTokenCharacter) else {
        throw .malformed("A header field's name holds a character that no name may hold.")
      }
      switch name {
      case "host": hosts += 1
      case "content-length": lengths.append(value)
      case "transfer-encoding": encodings.append(value.lowercased())
      default: break
      }
    }
    guard hosts <= 1 else { throw .malformed("There is more than one Host; want one.") }
    guard hosts == 1 || version == "HTTP/1.0" else {
      throw .malformed("There is no Host; HTTP/1.1 wants one.")
    }
    guard lengths.isEmpty || encodings.isEmpty else {
      throw .malformed("Content-Length and Transfer-Encoding stand together; want one of them.")
    }
    guard lengths.count <= 1 else {
      throw .malformed("There is more than one Content-Length; want one.")
    }
    if !encodings.isEmpty {
      guard encodings == ["chunked"], version != "HTTP/1.0" else {
        throw .malformed("Transfer-Encoding must be chunked, alone, and in HTTP/1.1.")
      }
      contentLength = nil
      return
    }
    guard let length = lengths.first else {
      contentLength = 0
      return
    }
    guard !length.isEmpty, length.utf8.allSatisfy({ (48...57).contains($0) }) else {
      throw .malformed("Content-Length must be a decimal number.")
    }
    // Digits that do not fit an Int are a number far above any limit.
    let bytes = Int(length) ?? .max
    guard bytes <= limits.bodyBytesMax else {
      throw .bodyTooLarge(bytesMax: limits.bodyBytesMax)
    }
    contentLength = bytes
  }
}

private func isTokenCharacter(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"):
    true
  default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
