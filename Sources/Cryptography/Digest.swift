import COpenSSL

/// A SHA-256 digest: 32 bytes.
package struct Digest: Hashable, Sendable {
  package let bytes: [UInt8]

  package static func sha256(_ data: some Sequence<UInt8>) -> Digest {
    Array(data).withUnsafeBytes(sha256)
  }

  package static func sha256(_ text: String) -> Digest {
    var text = text
    return text.withUTF8 { sha256(UnsafeRawBufferPointer($0)) }
  }

  private static func sha256(_ input: UnsafeRawBufferPointer) -> Digest {
    let output = [UInt8](unsafeUninitializedCapacity: 32) { output, count in
      let code = EVP_Digest(
        input.baseAddress, input.count, output.baseAddress, nil, algorithm, nil)
      precondition(code == 1, "SHA-256 is there")
      count = 32
    }
    return Digest(bytes: output)
  }

  // Fetched once: `EVP_sha256()` makes OpenSSL 3 look the algorithm up at every use.
  nonisolated(unsafe) private static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)

  /// 64 lower-case digits.
  package var hex: String { hex(digits: bytes.count * 2) }

  /// The first of the lower-case digits, an even number of them.
  package func hex(digits count: Int) -> String {
    String(unsafeUninitializedCapacity: count) { text in
      for (place, byte) in bytes.prefix(count / 2).enumerated() {
        text[place * 2] = Self.digit(byte >> 4)
        text[place * 2 + 1] = Self.digit(byte & 15)
      }
      return count
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
