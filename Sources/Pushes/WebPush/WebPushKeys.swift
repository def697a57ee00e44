import Cryptography

/// What a browser gives for encrypting to it: its public point and a shared secret.
package struct WebPushKeys: Hashable, Sendable {
  /// An uncompressed point of P-256: 65 octets, the first is 4.
  package let p256dh: [UInt8]
  /// 16 octets.
  package let auth: [UInt8]

  package static let authBytes = 16

  /// - Throws: ``WebPushKeysError`` when the point is not on the curve or a length is wrong.
  package init(p256dh: [UInt8], auth: [UInt8]) throws(WebPushKeysError) {
    try Self.check(p256dh: p256dh)
    try Self.check(auth: auth)
    self.p256dh = p256dh
    self.auth = auth
  }

  /// As they were checked and stored before; only the lengths are looked at again.
  ///
  /// - Throws: ``WebPushKeysError`` when a length is wrong.
  package init(storedP256dh p256dh: [UInt8], storedAuth auth: [UInt8]) throws(WebPushKeysError) {
    guard p256dh.count == P256Point.bytes else { throw .pointLength(p256dh.count) }
    try Self.check(auth: auth)
    self.p256dh = p256dh
    self.auth = auth
  }

  /// Both in base64url, as `PushSubscription.toJSON()` writes them.
  package init(p256dh: String, auth: String) throws(WebPushKeysError) {
    try self.init(p256dh: Self.point(p256dh), auth: Self.secret(auth))
  }

  /// Reads and checks the point alone.
  package static func point(_ text: String) throws(WebPushKeysError) -> [UInt8] {
    guard let bytes = Base64URL.decode(text) else { throw .notBase64URL }
    try check(p256dh: bytes)
    return bytes
  }

  /// Reads and checks the secret alone.
  package static func secret(_ text: String) throws(WebPushKeysError) -> [UInt8] {
    guard let bytes = Base64URL.decode(text) else { throw .notBase64URL }
    try check(auth: bytes)
    return bytes
  }

  private static func check(p256dh: [UInt8]) throws(WebPushKeysError) {
    guard p256dh.count == P256Point.bytes else { throw .pointLength(p256dh.count) }
    guard p256dh.first == 4 else { throw .notUncompressed }
    guard P256Point.isOnCurve(p256dh) else { throw .notOnCurve }
  }

  private static func check(auth: [UInt8]) throws(WebPushKeysError) {
    guard auth.count == authBytes else { throw .secretLength(auth.count) }
  }
}

package enum WebPushKeysError: Error, Hashable, CustomStringConvertible {
  case notBase64URL
  case pointLength(Int)
  case notUncompressed
  case notOnCurve
  case secretLength(Int)

  package var description: String {
    switch self {
    case .notBase64URL: "is not base64url without padding"
    case .pointLength(let count): "has \(count) octets, want the 65 of an uncompressed point"
    case .notUncompressed: "does not begin with 4, want an uncompressed point"
    case .notOnCurve: "is no point of the curve P-256"
    case .secretLength(let count): "has \(count) octets, want 16"
    }
  }
}
