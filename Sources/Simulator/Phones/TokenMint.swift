/// Makes tokens, device ids and activity ids: by chance, and the same again from the same seed.
package struct TokenMint: Sendable, RandomNumberGenerator {
  /// Digits of a device's tokens.
  package static let deviceDigits = 64
  /// Digits of an activity's token as one was seen, and two other lengths, because Apple says that
  /// no length may be assumed.
  package static let activityDigits = [160, 128, 200]

  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// SplitMix64.
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// By chance, 0 up to but not including 100.
  package mutating func percent() -> Double { Double.random(in: 0..<100, using: &self) }

  package mutating func hex(digits: Int) -> String {
    var text = ""
    while text.utf8.count < digits {
      let word = String(next(), radix: 16)
      text += String(repeating: "0", count: 16 - word.utf8.count) + word
    }
    return String(text.prefix(digits))
  }

  /// A token for the next activity; the lengths take turns by chance.
  package mutating func activityToken() -> String {
    let pick = Int(next() % UInt64(Self.activityDigits.count))
    return hex(digits: Self.activityDigits[pick])
  }

  /// A registration token in FCM's form.
  package mutating func fcmToken() -> String {
    "\(hex(digits: 22)):APA91b\(hex(digits: 128))"
  }

  /// A UUID of version 4, lower-case.
  package mutating func uuid() -> String {
    var digits = Array(hex(digits: 32))
    digits[12] = "4"
    digits[16] = Array("89ab")[Int(next() % 4)]
    let groups = [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]]
    return groups.map { String($0) }.joined(separator: "-")
  }
}
