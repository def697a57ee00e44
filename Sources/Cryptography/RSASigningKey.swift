import COpenSSL

/// A private RSA key that signs RS256: a service account's.
package struct RSASigningKey: Sendable {
  /// Shorter ones are refused (RFC 7518, 3.3).
  private static let bitsMin = 2048

  private let key: AsymmetricKey

  private init(_ key: AsymmetricKey) { self.key = key }

  /// Makes a new key of 2048 bits.
  package static func generate() -> RSASigningKey {
    guard let pointer = lockstep_generate_rsa(bitsMin) else {
      preconditionFailure("libcrypto makes no RSA key")
    }
    return RSASigningKey(AsymmetricKey(owning: pointer))
  }

  /// Reads the first private key of a PEM text, PKCS#8.
  ///
  /// - Throws: ``RSASigningKeyError``.
  package init(pem: String) throws(RSASigningKeyError) {
    var blocks = PEMBlocks(pem)
    do {
      while let block = try blocks.next() {
        guard block.label.hasSuffix("PRIVATE KEY") else { continue }
        guard let key = block.privateKey() else { throw RSASigningKeyError.unreadable }
        guard key.isRSA else { throw RSASigningKeyError.notRSA }
        guard key.bits >= Self.bitsMin else { throw RSASigningKeyError.tooShort }
        self.init(key)
        return
      }
    } catch let error as RSASigningKeyError {
      throw error
    } catch {
      throw .unreadable
    }
    throw .noPrivateKey
  }

  /// PKCS#8 in PEM, not encrypted.
  package var pem: String { key.pem }

  /// RS256 (RSASSA-PKCS1-v1_5 with SHA-256).
  package func sign(_ message: some Sequence<UInt8>) -> [UInt8] {
    key.signature(of: Array(message))
  }

  /// Whether `signature` is this key's over `message`.
  package func isSignature(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    key.isSignature(signature, of: message)
  }
}

/// Why a key cannot be used. Says nothing of its content.
package enum RSASigningKeyError: Error, Hashable, Sendable, CustomStringConvertible {
  case noPrivateKey
  case unreadable
  case notRSA
  case tooShort

  package var description: String {
    switch self {
    case .noPrivateKey:
      "holds no private key; want PEM that begins with -----BEGIN PRIVATE KEY-----"
    case .unreadable: "holds a private key that is damaged or has a password; want PKCS#8 without"
    case .notRSA: "holds a key of another kind; want RSA"
    case .tooShort: "holds an RSA key of less than 2048 bits"
    }
  }
}
