import COpenSSL

/// A key pair on P-256 that agrees on secrets (ECDH, RFC 8291): made for one message, or a
/// receiver's in tests.
package struct AgreementKey: Sendable {
  private let key: AsymmetricKey
  /// 65 octets, the first is 4.
  package let publicKey: [UInt8]

  private init(_ key: AsymmetricKey) {
    guard let x = key.number(OSSL_PKEY_PARAM_EC_PUB_X, byteCount: 32),
      let y = key.number(OSSL_PKEY_PARAM_EC_PUB_Y, byteCount: 32)
    else { preconditionFailure("a P-256 key has a public point") }
    self.key = key
    publicKey = [4] + x + y
  }

  package static func generate() -> AgreementKey {
    guard let pointer = lockstep_generate_p256() else {
      preconditionFailure("libcrypto makes no P-256 key")
    }
    return AgreementKey(AsymmetricKey(owning: pointer))
  }

  /// From its numbers, for fixed vectors. Nil when they are no key pair.
  ///
  /// `scalar`: 32 octets, big-endian; `publicKey`: its point, 65 octets.
  package init?(scalar: [UInt8], publicKey: [UInt8]) {
    guard scalar.count == 32, P256Point.isOnCurve(publicKey) else { return nil }
    let number = BN_bin2bn(scalar, Int32(scalar.count), nil)
    defer {
      BN_clear_free(number)
      ERR_clear_error()
    }
    guard let pointer = lockstep_p256_private_key(publicKey, publicKey.count, number) else {
      return nil
    }
    let key = AsymmetricKey(owning: pointer)
    guard key.isPair else { return nil }
    self.init(key)
  }

  /// The x coordinate that both sides arrive at, 32 octets. Nil when `peer` is no point of the
  /// curve.
  package func sharedSecret(with peer: [UInt8]) -> [UInt8]? {
    P256Point.key(of: peer).flatMap { key.sharedSecret(with: $0, byteCount: 32) }
  }
}
