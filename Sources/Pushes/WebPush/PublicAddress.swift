/// Which addresses are on the public Internet: a push service's name must lead to one of them, or
/// a name could lead this server into its own network.
package enum PublicAddress {
  /// IANA's registry of special-purpose addresses, and multicast.
  private static let specialIPv4: [(network: UInt32, bits: UInt32, name: String)] = [
    (0x0000_0000, 8, "this network"), (0x0A00_0000, 8, "private"), (0x6440_0000, 10, "CGNAT"),
    (0x7F00_0000, 8, "loopback"), (0xA9FE_0000, 16, "link-local"), (0xAC10_0000, 12, "private"),
    (0xC000_0000, 24, "reserved"), (0xC000_0200, 24, "documentation"),
    (0xC058_6300, 24, "6to4 relay"), (0xC0A8_0000, 16, "private"), (0xC612_0000, 15, "benchmark"),
    (0xC633_6400, 24, "documentation"), (0xCB00_7100, 24, "documentation"),
    (0xE000_0000, 4, "multicast"), (0xF000_0000, 4, "reserved"),
  ]

  /// Longest prefixes first; what matches none is not assigned to the Internet.
  private static let knownIPv6: [(prefix: [UInt8], bits: Int, name: String?)] = [
    ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 128, "loopback"),
    ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96, "IPv4-mapped"),
    ([0x20, 0x01, 0x0D, 0xB8], 32, "documentation"), ([0x20, 0x01, 0], 23, "special"),
    ([0x3F, 0xFF, 0], 20, "documentation"), ([0x20, 0x02], 16, "6to4"),
    ([0xFE, 0x80], 10, "link-local"), ([0xFE, 0xC0], 10, "site-local"), ([0xFF], 8, "multicast"),
    ([0xFC], 7, "unique-local"), ([0x20], 3, nil),
  ]

  /// Of the translation of IPv4, 64:ff9b::/96: the address behind it decides.
  private static let translation: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]

  /// Why this address is not public; nil when it is.
  ///
  /// `address`: 4 or 16 octets, as the network sends them.
  package static func refusal(_ address: [UInt8]) -> String? {
    switch address.count {
    case 4:
      let number = address.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      return specialIPv4.first { number >> (32 - $0.bits) == $0.network >> (32 - $0.bits) }?.name
    case 16:
      if address.starts(with: translation) { return refusal(Array(address.suffix(4))) }
      guard let known = knownIPv6.first(where: { matches(address, $0.prefix, bits: $0.bits) })
      else { return "not assigned" }
      return known.name
    default:
      return "no IP address"
    }
  }

  private static func matches(_ address: [UInt8], _ prefix: [UInt8], bits: Int) -> Bool {
    for (index, octet) in prefix.enumerated() {
      let left = min(8, bits - index * 8)
      guard left > 0 else { break }
      let mask = UInt8(truncatingIfNeeded: 0xFF00 >> left)
      guard address[index] & mask == octet & mask else { return false }
    }
    return true
  }
}
