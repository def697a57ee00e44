import Cryptography

/// `apns-collapse-id`: pushes of one id become one banner. At most 64 bytes.
package enum CollapseID {
  package static let bytesMax = 64

  /// `key` itself when it fits, else its SHA-256 in hexadecimal: exactly as long as may be.
  package static func of(_ key: String) -> String {
    key.utf8.count <= bytesMax ? key : Digest.sha256(key).hex
  }
}
