import COpenSSL

/// Owns one key of libcrypto.
// A key is never changed after it was made, and libcrypto counts references atomically: several
// threads may sign and verify with it, each with a context of its own.
final class AsymmetricKey: @unchecked Sendable {
  // Nobody else sees it: a pointer that is read from a key does not keep the key.
  private let pointer: OpaquePointer

  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  /// A private key in any form that libcrypto knows; nil when it is damaged.
  convenience init?(der: [UInt8]) {
    let (made, isWhole) = der.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      let made = d2i_AutoPrivateKey(nil, &start, bytes.count)
      return (made, start == bytes.baseAddress.map { $0 + bytes.count })
    }
    guard let made else { return nil }
    self.init(owning: made)
    guard isWhole else { return nil }
  }

  deinit { EVP_PKEY_free(pointer) }

  var isRSA: Bool { EVP_PKEY_get_base_id(pointer) == EVP_PKEY_RSA }

  /// Of an RSA key, the modulus's length.
  var bits: Int { Int(EVP_PKEY_get_bits(pointer)) }

  var isP256: Bool {
    guard EVP_PKEY_get_base_id(pointer) == EVP_PKEY_EC else { return false }
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    return EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1
      && String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
        == "prime256v1"
  }

  /// What SHA-256 and this key's own scheme make of `message`; for P-256 in DER.
  func signature(of message: [UInt8]) -> [UInt8] {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    var length = 0
    precondition(
      EVP_DigestSignInit(context, nil, EVP_sha256(), nil, pointer) == 1
        && EVP_DigestSign(context, nil, &length, message, message.count) == 1,
      "a private key that was read can sign")
    var signature = [UInt8](repeating: 0, count: length)
    precondition(
      EVP_DigestSign(context, &signature, &length, message, message.count) == 1,
      "a private key that was read can sign")
    return Array(signature.prefix(length))
  }

  /// Whether `signature`, for P-256 in DER, is this key's over the SHA-256 of `message`.
  func isSignature(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    let context = EVP_MD_CTX_new()
    // What is left in the thread's error queue would be taken for an error of its next TLS call.
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, pointer) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }

  /// A number that is part of the key, big-endian in `byteCount` bytes; nil when it has none such.
  func number(_ name: String, byteCount: Int) -> [UInt8]? {
    var number: OpaquePointer?
    defer { BN_free(number) }
    guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1 else {
      ERR_clear_error()
      return nil
    }
    var bytes = [UInt8](repeating: 0, count: byteCount)
    return BN_bn2binpad(number, &bytes, Int32(byteCount)) == Int32(byteCount) ? bytes : nil
  }
}

// MARK: Agreement

extension AsymmetricKey {
  /// Whether private and public part belong together.
  var isPair: Bool {
    let check = EVP_PKEY_CTX_new(pointer, nil)
    defer {
      EVP_PKEY_CTX_free(check)
      ERR_clear_error()
    }
    return EVP_PKEY_pairwise_check(check) == 1
  }

  /// What this private key and the other side's public one agree on, `byteCount` octets; nil when
  /// they cannot.
  func sharedSecret(with peer: AsymmetricKey, byteCount: Int) -> [UInt8]? {
    let context = EVP_PKEY_CTX_new(pointer, nil)
    defer {
      EVP_PKEY_CTX_free(context)
      ERR_clear_error()
    }
    var secret = [UInt8](repeating: 0, count: byteCount)
    var length = byteCount
    guard EVP_PKEY_derive_init(context) == 1,
      EVP_PKEY_derive_set_peer(context, peer.pointer) == 1,
      EVP_PKEY_derive(context, &secret, &length) == 1, length == byteCount
    else { return nil }
    return secret
  }
}

// MARK: As text

extension AsymmetricKey {
  /// PKCS#8 in PEM, not encrypted.
  var pem: String {
    let target = BIO_new(BIO_s_mem())
    defer { BIO_free(target) }
    precondition(
      PEM_write_bio_PKCS8PrivateKey(target, pointer, nil, nil, 0, nil, nil) == 1,
      "libcrypto writes the key it holds")
    var start: UnsafeMutablePointer<CChar>?
    let length = lockstep_bio_memory(target, &start)
    return String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
  }
}

// MARK: Public keys from their numbers

extension AsymmetricKey {
  /// The P-256 key of this point; nil when it is not on the curve.
  static func p256(x: [UInt8], y: [UInt8]) -> AsymmetricKey? {
    let point: [UInt8] = [4] + x + y
    return checked(lockstep_p256_public_key(point, point.count))
  }

  /// The RSA key of this modulus and exponent, big-endian; nil when libcrypto refuses them.
  static func rsa(modulus: [UInt8], exponent: [UInt8]) -> AsymmetricKey? {
    let n = BN_bin2bn(modulus, Int32(modulus.count), nil)
    let e = BN_bin2bn(exponent, Int32(exponent.count), nil)
    defer {
      BN_free(n)
      BN_free(e)
    }
    return checked(lockstep_rsa_public_key(n, e))
  }

  private var isPublicKey: Bool {
    let check = EVP_PKEY_CTX_new(pointer, nil)
    defer { EVP_PKEY_CTX_free(check) }
    return EVP_PKEY_public_check(check) == 1
  }

  private static func checked(_ made: OpaquePointer?) -> AsymmetricKey? {
    defer { ERR_clear_error() }
    guard let made else { return nil }
    let key = AsymmetricKey(owning: made)
    return key.isPublicKey ? key : nil
  }
}
