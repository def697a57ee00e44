import COpenSSL

/// A SHA-256 digest: 32 bytes.
package struct Digest: Hashable, Sendable {
  package let bytes: [UInt8]

  package static func sha256(_ data: some Sequence<UInt8>) -> Digest {
    let input = Array(data)
    var output = [UInt8](repeating: 0, count: 32)
    precondition(
      EVP_Digest(input, input.count, &output, nil, EVP_sha256(), nil) == 1, "SHA-256 is there")
    return Digest(bytes: output)
  }

  package static func sha256(_ text: String) -> Digest { sha256(text.utf8) }

  /// 64 lower-case digits.
  package var hex: String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
