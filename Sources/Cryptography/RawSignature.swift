import COpenSSL

/// An ECDSA signature over P-256 as JWS writes it: r and s, 32 bytes each (RFC 7518, 3.4).
/// libcrypto writes the two as DER.
enum RawSignature {
  static let byteCount = 64

  static func raw(fromDER der: [UInt8]) -> [UInt8] {
    var raw = [UInt8](repeating: 0, count: byteCount)
    let isWritten = der.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      let signature = d2i_ECDSA_SIG(nil, &start, bytes.count)
      defer { ECDSA_SIG_free(signature) }
      return raw.withUnsafeMutableBufferPointer { raw in
        BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw.baseAddress, 32) == 32
          && BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw.baseAddress.map { $0 + 32 }, 32) == 32
      }
    }
    precondition(isWritten, "libcrypto reads the signature it has made")
    return raw
  }

  /// Nil when `raw` has not 64 bytes.
  static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
    guard raw.count == byteCount, let signature = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(signature) }
    let r = BN_bin2bn(Array(raw.prefix(32)), 32, nil)
    let s = BN_bin2bn(Array(raw.suffix(32)), 32, nil)
    // The signature owns both numbers from here on.
    guard ECDSA_SIG_set0(signature, r, s) == 1 else { return nil }
    var written: UnsafeMutablePointer<UInt8>?
    let length = i2d_ECDSA_SIG(signature, &written)
    defer { lockstep_free(written) }
    guard length > 0 else { return nil }
    return Array(UnsafeBufferPointer(start: written, count: Int(length)))
  }
}
