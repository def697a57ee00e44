extension String {
  /// With what a terminal would obey written out, as `\u{1B}`: a name or an id that a stranger
  /// chose must not move the cursor, or repaint what stands above it.
  package var visible: String { visible(but: []) }

  /// Of several lines.
  package var visibleLines: String { visible(but: ["\n", "\t"]) }

  private func visible(but kept: Set<Unicode.Scalar>) -> String {
    guard unicodeScalars.contains(where: { $0.isObeyedByTerminals && !kept.contains($0) }) else {
      return self
    }
    return unicodeScalars.reduce(into: "") { text, scalar in
      if scalar.isObeyedByTerminals, !kept.contains(scalar) {
        text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
  }
}

extension Unicode.Scalar {
  /// Control characters, and those that turn the direction of what follows.
  package var isObeyedByTerminals: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
