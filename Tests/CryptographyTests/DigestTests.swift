import Cryptography
import Testing

@Suite struct DigestTests {
  // FIPS 180-2, B.1, and the empty text.
  @Test(arguments: [
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
  ])
  func `SHA-256 gives the published digests`(text: String, hex: String) {
    #expect(Digest.sha256(text).hex == hex)
  }

  @Test func `HMAC gives the published code`() {
    // RFC 4231, 4.3.
    let code = HMACSHA256.code(of: "what do ya want for nothing?".utf8, key: Array("Jefe".utf8))
    let hex = code.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    #expect(hex == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test func `a code counts only whole`() {
    let key = RandomBytes.make(32)
    let code = HMACSHA256.code(of: [1, 2, 3], key: key)
    #expect(HMACSHA256.isCode(code, of: [1, 2, 3], key: key))
    #expect(!HMACSHA256.isCode(code, of: [1, 2, 4], key: key))
    #expect(!HMACSHA256.isCode(Array(code.dropLast()), of: [1, 2, 3], key: key))
    #expect(!HMACSHA256.isCode([], of: [1, 2, 3], key: key))
  }
}
