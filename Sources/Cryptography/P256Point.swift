/// A public key on P-256 as octets: 65, the first is 4, then x and y.
package enum P256Point {
  package static let bytes = 65

  /// Whether these octets are an uncompressed point of the curve.
  package static func isOnCurve(_ point: [UInt8]) -> Bool {
    key(of: point) != nil
  }

  /// Whether `signature`, r and s in 64 octets, is ES256 by the key of `point` over `message`.
  package static func isSignature(
    _ signature: [UInt8], of message: some Sequence<UInt8>, by point: [UInt8]
  ) -> Bool {
    guard let key = key(of: point), let der = RawSignature.der(fromRaw: signature) else {
      return false
    }
    return key.isSignature(der, of: Array(message))
  }

  /// Nil when it is no point of the curve.
  static func key(of point: [UInt8]) -> AsymmetricKey? {
    guard point.count == bytes, point[0] == 4 else { return nil }
    return .p256(x: Array(point[1..<33]), y: Array(point[33...]))
  }
}
