/// The content coding `aes128gcm` (RFC 8188) with exactly one record, as Web Push uses it.
///
/// A body is salt (16), record size (4, big-endian), length of the key id (1), key id, and the
/// record: AES-128-GCM of plaintext, an octet 2, and any zeros.
package enum AES128GCMCoding {
  package static let saltBytes = 16
  private static let delimiter: UInt8 = 2

  /// `secret`: the input keying material.
  package static func encoded(
    _ plaintext: [UInt8], secret: [UInt8], salt: [UInt8], keyID: [UInt8], recordSize: UInt32
  ) -> [UInt8] {
    precondition(salt.count == saltBytes && keyID.count < 256, "16 octets, at most 255 octets")
    precondition(plaintext.count + 1 + AES128GCM.tagBytes <= Int(recordSize), "one record")
    let keys = Keys(secret: secret, salt: salt)
    let size = (0..<4).map { UInt8(truncatingIfNeeded: recordSize >> UInt32(24 - 8 * $0)) }
    return salt + size + [UInt8(keyID.count)] + keyID
      + AES128GCM.sealed(plaintext + [delimiter], key: keys.key, nonce: keys.nonce)
  }

  /// The parts before the record, and the record.
  package struct Parts: Hashable, Sendable {
    package let salt: [UInt8]
    package let recordSize: Int
    package let keyID: [UInt8]
    package let record: [UInt8]

    /// Nil when the body is cut off, or has more than one record.
    package init?(_ body: [UInt8]) {
      guard body.count > 21 else { return nil }
      salt = Array(body[..<16])
      recordSize = body[16..<20].reduce(0) { $0 << 8 | Int($1) }
      let keyEnd = 21 + Int(body[20])
      guard body.count > keyEnd else { return nil }
      keyID = Array(body[21..<keyEnd])
      record = Array(body[keyEnd...])
      guard recordSize >= 18, record.count <= recordSize else { return nil }
    }
  }

  /// The plaintext; nil when the record does not open or is not the last one.
  package static func decoded(_ parts: Parts, secret: [UInt8]) -> [UInt8]? {
    let keys = Keys(secret: secret, salt: parts.salt)
    guard let padded = AES128GCM.opened(parts.record, key: keys.key, nonce: keys.nonce),
      let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == delimiter
    else { return nil }
    return Array(padded[..<end])
  }

  private struct Keys {
    let key: [UInt8]
    let nonce: [UInt8]

    init(secret: [UInt8], salt: [UInt8]) {
      let root = HMACSHA256.code(of: secret, key: salt)
      func derived(_ label: String, _ count: Int) -> [UInt8] {
        Array(HMACSHA256.code(of: Array(label.utf8) + [0, 1], key: root).prefix(count))
      }
      key = derived("Content-Encoding: aes128gcm", AES128GCM.keyBytes)
      nonce = derived("Content-Encoding: nonce", AES128GCM.nonceBytes)
    }
  }
}
