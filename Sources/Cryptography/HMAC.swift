import COpenSSL

/// HMAC with SHA-256 (RFC 2104): 32 bytes.
package enum HMACSHA256 {
  package static func code(of message: some Sequence<UInt8>, key: [UInt8]) -> [UInt8] {
    let message = Array(message)
    var code = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    precondition(
      HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, &length) != nil,
      "HMAC-SHA-256 is there")
    return code
  }

  /// Compares in a time that does not depend on where the two differ.
  package static func isCode(_ given: [UInt8], of message: some Sequence<UInt8>, key: [UInt8])
    -> Bool
  {
    let wanted = code(of: message, key: key)
    return given.count == wanted.count && CRYPTO_memcmp(given, wanted, wanted.count) == 0
  }
}
