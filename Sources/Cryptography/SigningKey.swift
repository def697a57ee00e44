import COpenSSL

/// A private key on P-256 that signs ES256: an APNs key (`.p8`) or a VAPID key.
package struct SigningKey: Sendable {
  private let key: AsymmetricKey

  /// The public point, uncompressed: 65 bytes, the first is 4.
  package let publicKey: [UInt8]

  private init(_ key: AsymmetricKey) throws(SigningKeyError) {
    guard let x = key.number(OSSL_PKEY_PARAM_EC_PUB_X, byteCount: 32),
      let y = key.number(OSSL_PKEY_PARAM_EC_PUB_Y, byteCount: 32)
    else { throw .notP256 }
    self.key = key
    publicKey = [4] + x + y
  }

  /// Makes a new key.
  package static func generate() -> SigningKey {
    guard let pointer = lockstep_generate_p256(),
      let key = try? SigningKey(AsymmetricKey(owning: pointer))  // It is on P-256: nothing to tell.
    else { preconditionFailure("libcrypto makes no P-256 key") }
    return key
  }

  /// Reads the first key of a PEM text, PKCS#8 as Apple's `.p8`.
  ///
  /// - Throws: ``SigningKeyError``.
  package init(pem: String) throws(SigningKeyError) {
    guard let first = try Self.all(pem: pem).first else { throw .noPrivateKey }
    self = first
  }

  /// Reads every private key of a PEM text, in order; there is at least one. Blocks of another kind
  /// are passed over.
  ///
  /// - Throws: ``SigningKeyError`` when there is none, or one cannot be read or is not on P-256.
  package static func all(pem: String) throws(SigningKeyError) -> [SigningKey] {
    var blocks = PEMBlocks(pem)
    var keys: [SigningKey] = []
    while let block = try blocks.next() {
      guard block.label.hasSuffix("PRIVATE KEY") else { continue }
      guard let key = block.privateKey() else { throw .unreadable }
      guard key.isP256 else { throw .notP256 }
      keys.append(try SigningKey(key))
    }
    guard !keys.isEmpty else { throw .noPrivateKey }
    return keys
  }

  /// PKCS#8 in PEM, not encrypted.
  package var pem: String { key.pem }

  /// ES256: r and s, 64 bytes.
  package func sign(_ message: some Sequence<UInt8>) -> [UInt8] {
    RawSignature.raw(fromDER: key.signature(of: Array(message)))
  }
}

/// Why a key file cannot be used. Says nothing of its content.
package enum SigningKeyError: Error, Hashable, Sendable, CustomStringConvertible {
  case noPrivateKey
  case unreadable
  case notP256

  package var description: String {
    switch self {
    case .noPrivateKey:
      "holds no private key; want PEM that begins with -----BEGIN PRIVATE KEY-----"
    case .unreadable: "holds a private key that is damaged or has a password; want PKCS#8 without"
    case .notP256: "holds a key of another kind; want one on the curve P-256"
    }
  }
}
