import COpenSSL

/// Bytes that nobody can guess.
package enum RandomBytes {
  package static func make(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    precondition(RAND_bytes(&bytes, Int32(count)) == 1, "the system gives no random bytes")
    return bytes
  }
}
