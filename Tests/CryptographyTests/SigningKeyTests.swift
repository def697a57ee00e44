import Cryptography
import Foundation
import Testing
import Vocabulary

@Suite struct SigningKeyTests {
  @Test func `a key comes back from its PEM`() throws {
    let key = SigningKey.generate()
    #expect(key.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    let read = try SigningKey(pem: key.pem)
    #expect(read.publicKey == key.publicKey)
    #expect(read.pem == key.pem)
  }

  @Test func `a signature has 64 bytes and verifies with the public part`() throws {
    let key = SigningKey.generate()
    #expect(key.publicKey.count == 65 && key.publicKey[0] == 4)
    let set = try KeySets.make([KeySets.ellipticCurve(key, id: "a")])
    // r and s begin with a zero byte now and then; both must keep their 32 bytes.
    for round in 0..<300 {
      #expect(key.sign("message \(round)".utf8).count == 64)
      let token = JSONWebToken.signed(
        claims: ["exp": 2_000_000_000, "round": .integer(Int64(round))], with: key, keyID: "a")
      #expect(throws: Never.self) { try set.verify(token, now: UnixTime(seconds: 1_900_000_000)) }
    }
  }

  @Test func `all keys of a file are read in order`() throws {
    let keys = [SigningKey.generate(), SigningKey.generate(), SigningKey.generate()]
    let file = "a comment\n" + keys.map(\.pem).joined(separator: "\nbetween\n") + "\nafter\n"
    #expect(try SigningKey.all(pem: file).map(\.publicKey) == keys.map(\.publicKey))
    #expect(try SigningKey(pem: file).publicKey == keys[0].publicKey)
  }

  @Test(arguments: [
    "", "nothing", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
  ])
  func `a text without a private key is refused`(text: String) {
    #expect(throws: SigningKeyError.noPrivateKey) { try SigningKey(pem: text) }
  }

  @Test func `a damaged key is refused`() {
    let pem = SigningKey.generate().pem
    let damaged = pem.replacing("MIG", with: "MIH")
    #expect(throws: SigningKeyError.unreadable) { try SigningKey(pem: damaged) }
    #expect(throws: SigningKeyError.unreadable) { try SigningKey(pem: String(pem.dropLast(40))) }
    #expect(throws: SigningKeyError.unreadable) { try SigningKey.all(pem: pem + damaged) }
  }

  @Test(arguments: [
    ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    ["genpkey", "-algorithm", "ED25519"],
  ])
  func `a key of another kind is refused`(arguments: [String]) throws {
    let pem = try openssl(arguments)
    #expect(throws: SigningKeyError.notP256) { try SigningKey(pem: pem) }
  }

  @Test func `a key with a password is refused without asking for it`() throws {
    let pem = try openssl([
      "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes128", "-pass",
      "pass:secret",
    ])
    #expect(throws: SigningKeyError.unreadable) { try SigningKey(pem: pem) }
  }

  @Test func `a key that another program made signs`() throws {
    let pem = try openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
    let key = try SigningKey(pem: pem)
    #expect(key.pem == pem)
    #expect(key.sign([]).count == 64)
  }

  private func openssl(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: data, as: UTF8.self)
  }
}
