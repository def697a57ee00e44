/// Base64 with the alphabet for URLs and without padding (RFC 4648, 5; RFC 7515, 2).
package enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static let values: [UInt8?] = {
    var values = [UInt8?](repeating: nil, count: 256)
    for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }()

  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var digits: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        digits.append(alphabet[Int(bits >> UInt32(count) & 63)])
      }
    }
    if count > 0 { digits.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Reads only what ``encode(_:)`` writes, so that one value has one text.
  ///
  /// Nil for padding, another character, a length that no bytes give, or left-over bits that are
  /// not zero.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 3 / 4)
    var bits: UInt32 = 0
    var count = 0
    for digit in text.utf8 {
      guard let value = values[Int(digit)] else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    // Six left-over bits are one digit that stands for no whole byte.
    guard count < 6, bits & (1 << UInt32(count) - 1) == 0 else { return nil }
    return bytes
  }
}
