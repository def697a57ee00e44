import Cryptography

/// `apns-collapse-id`: pushes of one id become one banner. At most 64 bytes.
package enum CollapseID {
  package static let bytesMax = 64

  /// `key` itself when it fits, else its SHA-256 in hexadecimal: exactly as long as may be.
  package static func of(_ key: String) -> String {
    isOne(key) ? key : Digest.sha256(key).hex
  }

  /// Whether a text can stand in the header: one that holds a newline, or what is not ASCII, would
  /// be an error of the stream, or of the connection with all that is on it.
  package static func isOne(_ text: String) -> Bool {
    (1...bytesMax).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
