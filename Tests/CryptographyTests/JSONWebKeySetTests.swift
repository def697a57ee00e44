import Cryptography
import Foundation
import Testing
import Vocabulary

@Suite struct JSONWebKeySetTests {
  private func problems(_ keys: [JSONValue]) -> [String] {
    do throws(JSONWebKeySetError) {
      _ = try KeySets.make(keys)
      return []
    } catch {
      return error.problems
    }
  }

  private func changed(_ key: JSONValue, _ name: String, _ value: JSONValue?) -> JSONValue {
    guard case .object(var members) = key else { return key }
    members[name] = value
    return .object(members)
  }

  @Test func `a set of all three kinds is read`() throws {
    let set = try KeySets.make([
      changed(KeySets.secret(RandomBytes.make(32), id: "a"), "alg", "HS256"),
      changed(KeySets.ellipticCurve(.generate(), id: "b"), "alg", "ES256"),
      changed(changed(KeySets.rsa(id: "c"), "alg", "RS256"), "use", "sig"),
    ])
    #expect(set.keys.map(\.id) == ["a", "b", "c"])
    #expect(set.keys.map(\.algorithm) == [.hs256, .es256, .rs256])
  }

  @Test func `a secret of 31 bytes is refused`() {
    #expect(
      problems([KeySets.secret(RandomBytes.make(31), id: "a")])
        == ["keys[0] (kid \"a\"): k has 31 bytes; want at least 32"])
  }

  @Test func `every problem of every key is named`() {
    let good = KeySets.ellipticCurve(.generate(), id: "b")
    let found = problems([
      ["kty": "oct"], "text", changed(good, "kid", nil), good, good,
      changed(KeySets.rsa(id: "c"), "alg", "HS256"), ["kid": "d", "kty": "OKP"],
      changed(KeySets.rsa(id: "e"), "use", "enc"),
    ])
    #expect(
      found == [
        "keys[0]: kid is missing or no string; want one",
        "keys[0]: k is missing or no string; want one",
        "keys[1]: is a string; want an object",
        "keys[2]: kid is missing or no string; want one",
        "keys[4] (kid \"b\"): kid stands at an earlier key too; want each once",
        "keys[5] (kid \"c\"): alg does not fit kty; want \"RS256\" or no alg",
        "keys[6] (kid \"d\"): kty must be \"oct\", \"EC\" or \"RSA\"",
        "keys[7] (kid \"e\"): use must be \"sig\"",
      ])
  }

  @Test func `a point beside the curve is refused`() {
    let key = SigningKey.generate()
    var y = Array(key.publicKey[33...64])
    y[31] ^= 1
    #expect(
      problems([
        changed(KeySets.ellipticCurve(key, id: "a"), "y", .string(Base64URL.encode(y)))
      ]) == ["keys[0] (kid \"a\"): x and y are no point of P-256"])
  }

  @Test(arguments: [
    ("crv", "P-384", "crv must be \"P-256\""),
    ("x", "AAAA", "x and y have 3 and 32 bytes; want 32 each"),
    ("x", "A===", "x is not base64url without padding"),
    ("d", "AAAA", "holds the private part, d; want the public key only"),
  ])
  func `an EC key must be whole`(name: String, value: String, problem: String) {
    let key = changed(KeySets.ellipticCurve(.generate(), id: "a"), name, .string(value))
    #expect(problems([key]) == ["keys[0] (kid \"a\"): \(problem)"])
  }

  private func rsa(bits: Int, exponent: String = "AQAB") -> JSONValue {
    var modulus = RandomBytes.make((bits + 7) / 8)
    modulus[0] = bits.isMultiple(of: 8) ? modulus[0] | 0x80 : 0x7F
    modulus[modulus.count - 1] |= 1
    return [
      "kty": "RSA", "kid": "a", "n": .string(Base64URL.encode(modulus)), "e": .string(exponent),
    ]
  }

  @Test(arguments: [
    (2047, "AQAB", "n has 2047 bits; want 2048 to 8192"),
    (8200, "AQAB", "n has 8200 bits; want 2048 to 8192"),
    (2048, "AQ", "e must be odd, above 1 and at most 4 bytes long; 65537 is usual"),
    (2048, "Ag", "e must be odd, above 1 and at most 4 bytes long; 65537 is usual"),
    (2048, "AQAAAAE", "e must be odd, above 1 and at most 4 bytes long; 65537 is usual"),
    (2048, "", "e is missing or no string; want one"),
  ])
  func `an RSA key beyond its limits is refused`(bits: Int, exponent: String, problem: String) {
    #expect(
      problems([rsa(bits: bits, exponent: exponent)]) == ["keys[0] (kid \"a\"): \(problem)"])
  }

  @Test(arguments: [2048, 8192])
  func `an RSA key at its limits is read`(bits: Int) {
    // libcrypto refuses a number with a small factor, as nine of ten random ones are.
    let isRead = (0..<500).contains { _ in problems([rsa(bits: bits)]).isEmpty }
    #expect(isRead)
  }

  @Test(arguments: ["", "[]", "{}", "{\"keys\":[]}", "{\"keys\":{}}", "no"])
  func `a file without keys is refused`(text: String) {
    #expect(throws: JSONWebKeySetError.self) { try JSONWebKeySet(parsing: Data(text.utf8)) }
  }

  @Test func `64 keys are read and 65 are not`() {
    let keys = (0..<65).map { KeySets.secret(RandomBytes.make(32), id: "\($0)") }
    #expect(problems(Array(keys.prefix(64))).isEmpty)
    #expect(problems(keys) == ["wants a member keys: an array of 1 to 64 keys"])
  }

  @Test func `no problem shows key material`() {
    let secret = "c2VjcmV0LXNlY3JldA"
    let found = problems([
      ["kty": "oct", "kid": "a", "k": .string(secret)],
      ["kty": "oct", "kid": "b", "k": .string(secret + "=")],
    ])
    #expect(found.count == 2 && !found.joined().contains(secret))
  }

  @Test func `a development token is signed with a secret and verifies`() throws {
    let now = UnixTime(seconds: 1_800_000_000)
    let set = try KeySets.make([
      KeySets.ellipticCurve(.generate(), id: "e"), KeySets.secret(RandomBytes.make(32), id: "h"),
    ])
    let claims: JSONValue = ["sub": "dennis", "scope": "user", "exp": 1_800_003_600]
    let token = try #require(set.sign(claims: claims))
    #expect(try JSONWebToken(token).header == ["alg": "HS256", "kid": "h", "typ": "JWT"])
    #expect(try set.verify(token, now: now) == claims)
    #expect(set.sign(claims: claims, keyID: "e") == nil)
    #expect(set.sign(claims: claims, keyID: "h") != nil)
    #expect(set.sign(claims: claims, keyID: "x") == nil)
  }
}
