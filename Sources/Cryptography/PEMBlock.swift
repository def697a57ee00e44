import COpenSSL

/// One `-----BEGIN label-----` block of a PEM text (RFC 7468).
struct PEMBlock {
  let label: String
  private let isEncrypted: Bool
  private let content: [UInt8]

  /// Reads the next block; nil when none begins any more.
  ///
  /// - Throws: ``SigningKeyError/unreadable`` when one begins and is damaged.
  init?(from source: OpaquePointer) throws(SigningKeyError) {
    var name: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var data: UnsafeMutablePointer<UInt8>?
    var length = 0
    ERR_clear_error()
    guard PEM_read_bio(source, &name, &header, &data, &length) == 1, let name, let header, let data
    else {
      guard Self.isAtEnd() else { throw .unreadable }
      return nil
    }
    defer {
      lockstep_free(name)
      lockstep_free(header)
      OPENSSL_cleanse(data, length)
      lockstep_free(data)
    }
    label = String(cString: name)
    // The old form names its cipher in a header; PKCS#8 has a label of its own for it.
    isEncrypted = header.pointee != 0 || label == "ENCRYPTED PRIVATE KEY"
    content = Array(UnsafeBufferPointer(start: data, count: length))
  }

  private static func isAtEnd() -> Bool {
    let error = ERR_peek_last_error()
    // ERR_GET_LIB and ERR_GET_REASON are macros: 8 bits above 23 bits.
    return error >> 23 & 0xFF == UInt(ERR_LIB_PEM)
      && error & 0x7F_FFFF == UInt(PEM_R_NO_START_LINE)
  }

  /// The private key in it, of any kind; nil when it is damaged or has a password.
  func privateKey() -> AsymmetricKey? {
    guard !isEncrypted else { return nil }
    return content.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      guard let pointer = d2i_AutoPrivateKey(nil, &start, bytes.count) else { return nil }
      let key = AsymmetricKey(owning: pointer)
      let isWhole = start == bytes.baseAddress.map { $0 + bytes.count }
      return isWhole ? key : nil
    }
  }
}
