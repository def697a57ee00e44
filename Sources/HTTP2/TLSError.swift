import COpenSSL

/// TLS could not be set up; nothing was sent.
package struct TLSError: Error, Hashable, CustomStringConvertible {
  package let description: String

  init(_ what: String) {
    let detail = Self.takeQueue()
    description = detail.isEmpty ? what : "\(what): \(detail)"
  }

  /// What OpenSSL noted on this thread, taken away so that it is not blamed on the next call.
  static func takeQueue() -> String {
    var parts: [String] = []
    while true {
      let code = ERR_get_error()
      guard code != 0 else { break }
      if let reason = ERR_reason_error_string(code) {
        parts.append(String(cString: reason))
      } else {
        parts.append("error \(code)")
      }
    }
    return parts.joined(separator: ", ")
  }
}
