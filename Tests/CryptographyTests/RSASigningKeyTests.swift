import Cryptography
import Testing

@Suite struct RSASigningKeyTests {
  @Test func `a key comes back from its PEM`() throws {
    let key = RSASigningKey.generate()
    #expect(key.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    let read = try RSASigningKey(pem: key.pem)
    #expect(read.pem == key.pem)
    let message = Array("a token's first two parts".utf8)
    #expect(key.isSignature(read.sign(message), of: message))
    #expect(!key.isSignature(read.sign(message), of: message + [0]))
  }

  @Test func `the first private key of a text is taken`() throws {
    let keys = [RSASigningKey.generate(), RSASigningKey.generate()]
    let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    let text = "a comment\n" + certificate + keys.map(\.pem).joined(separator: "\nbetween\n")
    #expect(try RSASigningKey(pem: text).pem == keys[0].pem)
  }

  @Test(arguments: [
    "", "nothing", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
  ])
  func `a text without a private key is refused`(text: String) {
    #expect(throws: RSASigningKeyError.noPrivateKey) { try RSASigningKey(pem: text) }
  }

  @Test func `a damaged key and one of another kind are refused`() {
    let pem = RSASigningKey.generate().pem
    #expect(throws: RSASigningKeyError.unreadable) {
      try RSASigningKey(pem: pem.replacing("MII", with: "MIH"))
    }
    #expect(throws: RSASigningKeyError.unreadable) {
      try RSASigningKey(pem: String(pem.dropLast(40)))
    }
    #expect(throws: RSASigningKeyError.notRSA) {
      try RSASigningKey(pem: SigningKey.generate().pem)
    }
  }
}
