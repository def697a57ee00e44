import Vocabulary

/// UUIDs as lower-case text, `0190f3a2-…` (RFC 9562).
package enum UUIDText {
  /// Version 4: 122 random bits.
  package static func random() -> String {
    text(of: RandomBytes.make(16), version: 4)
  }

  /// Version 7: the milliseconds of `now`, then 74 random bits. Later ones sort after earlier ones;
  /// within one millisecond the order is by chance.
  package static func v7(now: UnixTime) -> String {
    var bytes = RandomBytes.make(16)
    for place in 0..<6 {
      bytes[place] = UInt8(truncatingIfNeeded: now.milliseconds >> Int64(8 * (5 - place)))
    }
    return text(of: bytes, version: 7)
  }

  /// Version 8: made from SHA-256 of `parts`, the same for the same parts. A job keeps its
  /// `apns-id` this way over every retry and every repeat of its event.
  ///
  /// Each part goes in behind its length, so that `["ab", "c"]` and `["a", "bc"]` differ.
  package static func named(_ parts: [String]) -> String {
    var input: [UInt8] = []
    for part in parts {
      let length = UInt64(part.utf8.count)
      for shift in stride(from: 56, through: 0, by: -8) {
        input.append(UInt8(truncatingIfNeeded: length >> UInt64(shift)))
      }
      input.append(contentsOf: part.utf8)
    }
    return text(of: Array(Digest.sha256(input).bytes.prefix(16)), version: 8)
  }

  /// Whether `text` is written as the others here: 36 characters, lower case.
  package static func isWritten(_ text: String) -> Bool {
    guard text.utf8.count == 36 else { return false }
    var text = text
    return text.withUTF8 { bytes in
      bytes.indices.allSatisfy { place in
        switch (place, bytes[place]) {
        case (8, let byte), (13, let byte), (18, let byte), (23, let byte):
          byte == UInt8(ascii: "-")
        case (_, UInt8(ascii: "0")...UInt8(ascii: "9")), (_, UInt8(ascii: "a")...UInt8(ascii: "f")):
          true
        default: false
        }
      }
    }
  }

  private static func text(of random: [UInt8], version: UInt8) -> String {
    var bytes = random
    bytes[6] = version << 4 | bytes[6] & 0x0F
    bytes[8] = 0x80 | bytes[8] & 0x3F
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (place, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(place) { text.append(UInt8(ascii: "-")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
