import COpenSSL

/// The blocks of a PEM text (RFC 7468), one after the other.
///
/// libcrypto reads a text over several calls, and a Swift array passed to the first of them may be
/// gone by the second. So it is given a copy to own, which it wipes at the end.
struct PEMBlocks: ~Copyable {
  private let source: OpaquePointer

  init(_ text: String) {
    guard let source = BIO_new(BIO_s_mem()) else { preconditionFailure("libcrypto has no memory") }
    self.source = source
    var text = text
    let count = text.withUTF8 { BIO_write(source, $0.baseAddress, Int32($0.count)) }
    precondition(text.isEmpty || count == text.utf8.count, "libcrypto has no memory")
  }

  deinit {
    BIO_free(source)
    ERR_clear_error()
  }

  /// The next block; nil when none begins any more.
  ///
  /// - Throws: ``SigningKeyError/unreadable`` when one begins and is damaged.
  mutating func next() throws(SigningKeyError) -> PEMBlock? {
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
    let label = String(cString: name)
    return PEMBlock(
      label: label,
      // The old form names its cipher in a header; PKCS#8 has a label of its own for it.
      isEncrypted: header.pointee != 0 || label == "ENCRYPTED PRIVATE KEY",
      content: Array(UnsafeBufferPointer(start: data, count: length)))
  }

  private static func isAtEnd() -> Bool {
    let error = ERR_peek_last_error()
    // ERR_GET_LIB and ERR_GET_REASON are macros: 8 bits above 23 bits.
    return error >> 23 & 0xFF == UInt(ERR_LIB_PEM)
      && error & 0x7F_FFFF == UInt(PEM_R_NO_START_LINE)
  }
}

/// One `-----BEGIN label-----` block.
struct PEMBlock {
  let label: String
  fileprivate let isEncrypted: Bool
  fileprivate let content: [UInt8]

  /// The private key in it, of any kind; nil when it is damaged or has a password.
  func privateKey() -> AsymmetricKey? { isEncrypted ? nil : AsymmetricKey(der: content) }
}
