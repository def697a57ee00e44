import Cryptography
import Testing
import Vocabulary

@Suite struct TokenRefusalTests {
  private static let secret = [UInt8](repeating: 7, count: 32)
  private static let now = UnixTime(seconds: 1_800_000_000)
  private let set: JSONWebKeySet

  init() throws {
    set = try KeySets.make([KeySets.secret(Self.secret, id: "h"), KeySets.rsa(id: "r")])
  }

  private func verify(_ claims: JSONValue) throws(TokenRefusal) -> JSONValue {
    try set.verify(
      JSONWebToken.signed(claims: claims, secret: Self.secret, keyID: "h"), now: Self.now)
  }

  /// A token with any header, signed as HS256 with `key`.
  private func token(header: JSONValue, claims: JSONValue = ["exp": 1_900_000_000], key: [UInt8])
    -> String
  {
    let text = Base64URL.encode(header.encoded) + "." + Base64URL.encode(claims.encoded)
    return text + "." + Base64URL.encode(HMACSHA256.code(of: text.utf8, key: key))
  }

  @Test(arguments: ["none", "None", "NONE", "nOnE", "", "HS384", "ES256", "RS256", "hs256"])
  func `an alg that does not fit the key is refused`(algorithm: String) {
    let wrong = token(header: ["alg": .string(algorithm), "kid": "h"], key: Self.secret)
    #expect(throws: TokenRefusal.algorithm(given: algorithm, wanted: "HS256")) {
      try set.verify(wrong, now: Self.now)
    }
    let unsigned = wrong[...wrong.lastIndex(of: ".")!]
    #expect(throws: TokenRefusal.self) { try set.verify(String(unsigned), now: Self.now) }
  }

  @Test func `a missing or numeric alg is refused`() {
    for header: JSONValue in [["kid": "h"], ["kid": "h", "alg": 5]] {
      #expect(throws: TokenRefusal.algorithm(given: "", wanted: "HS256")) {
        try set.verify(token(header: header, key: Self.secret), now: Self.now)
      }
    }
  }

  @Test func `a public key is never used as a secret`() throws {
    let modulus = try #require(Base64URL.decode(KeySets.modulus))
    for key in [modulus, Array(KeySets.modulus.utf8), Array(KeySets.rsa(id: "r").encoded)] {
      #expect(throws: TokenRefusal.algorithm(given: "HS256", wanted: "RS256")) {
        try set.verify(token(header: ["alg": "HS256", "kid": "r"], key: key), now: Self.now)
      }
    }
  }

  @Test func `kid picks the key`() throws {
    #expect(throws: TokenRefusal.unknownKey(id: "x")) {
      try set.verify(
        token(header: ["alg": "HS256", "kid": "x"], key: Self.secret), now: Self.now)
    }
    let nameless = token(header: ["alg": "HS256"], key: Self.secret)
    #expect(throws: TokenRefusal.noKeyID) { try set.verify(nameless, now: Self.now) }
    let single = try KeySets.make([KeySets.secret(Self.secret, id: "h")])
    #expect(throws: Never.self) { try single.verify(nameless, now: Self.now) }
    #expect(throws: TokenRefusal.wrongType(claim: "kid", given: "a number", wanted: "a string")) {
      try single.verify(token(header: ["alg": "HS256", "kid": 1], key: Self.secret), now: Self.now)
    }
  }

  @Test func `keys rotate`() throws {
    let new = [UInt8](repeating: 9, count: 32)
    let both = try KeySets.make([
      KeySets.secret(new, id: "new"), KeySets.secret(Self.secret, id: "h"),
    ])
    for (key, id) in [(new, "new"), (Self.secret, "h")] {
      let token = JSONWebToken.signed(claims: ["exp": 1_900_000_000], secret: key, keyID: id)
      #expect(throws: Never.self) { try both.verify(token, now: Self.now) }
    }
    let crossed = JSONWebToken.signed(claims: ["exp": 1_900_000_000], secret: new, keyID: "h")
    #expect(throws: TokenRefusal.badSignature) { try both.verify(crossed, now: Self.now) }
  }

  @Test func `a critical extension is refused`() {
    let header: JSONValue = ["alg": "HS256", "kid": "h", "crit": ["b64"], "b64": false]
    #expect(throws: TokenRefusal.self) {
      try set.verify(token(header: header, key: Self.secret), now: Self.now)
    }
  }

  // MARK: Times, at 1,800,000,000 with a leeway of 60 s

  @Test(
    arguments: [
      (["exp": 1_799_999_941], nil),
      (["exp": 1_799_999_940], .expired(secondsAgo: 60)),
      (["exp": .number(1_799_999_940.5)], nil),
      (["exp": 0], .expired(secondsAgo: 1_800_000_000)),
      (["exp": 1_900_000_000, "iat": 1_800_000_060], nil),
      (["exp": 1_900_000_000, "iat": 1_800_000_061], .notYet(claim: "iat", secondsAhead: 61)),
      (["exp": 1_900_000_000, "nbf": 1_800_000_060], nil),
      (["exp": 1_900_000_000, "nbf": 1_800_000_061], .notYet(claim: "nbf", secondsAhead: 61)),
      ([:], .noExpiry),
      (["exp": .number(1e300)], nil),
      (["exp": .number(-1e300)], .expired(secondsAgo: .max)),
    ] as [([String: JSONValue], TokenRefusal?)])
  func `times count up to the leeway`(claims: [String: JSONValue], refusal: TokenRefusal?) {
    var seen: TokenRefusal?
    do throws(TokenRefusal) { _ = try verify(.object(claims)) } catch { seen = error }
    #expect(seen == refusal)
  }

  @Test(
    arguments: [
      ("exp", "1900000000", "a number"), ("exp", nil, "a number"), ("exp", true, "a number"),
      ("iat", "now", "a number"), ("nbf", [], "a number"), ("sub", 7, "a string"),
      ("scope", ["ops"], "a string"), ("iss", false, "a string"), ("jti", [:], "a string"),
    ] as [(String, JSONValue, String)])
  func `a claim of the wrong type is refused`(claim: String, value: JSONValue, wanted: String) {
    var claims: [String: JSONValue] = ["exp": 1_900_000_000]
    claims[claim] = value
    #expect(
      throws: TokenRefusal.wrongType(claim: claim, given: value.typeName, wanted: wanted)
    ) { try verify(.object(claims)) }
  }

  // MARK: Form

  @Test func `8 KiB are read and a byte more is not`() throws {
    let bare = JSONWebToken.signed(
      claims: ["exp": 1_900_000_000, "pad": ""], secret: Self.secret, keyID: "h")
    // Three bytes of claims are four of the token; trying lengths finds both sides of the limit.
    let start = (JSONWebToken.bytesMax - bare.utf8.count) * 3 / 4
    var read = 0
    for count in (start - 4)...(start + 4) {
      let pad = JSONValue.string(String(repeating: "x", count: count))
      let token = JSONWebToken.signed(
        claims: ["exp": 1_900_000_000, "pad": pad], secret: Self.secret, keyID: "h")
      let bytes = token.utf8.count
      if bytes <= JSONWebToken.bytesMax {
        #expect(throws: Never.self) { try set.verify(token, now: Self.now) }
        read = max(read, bytes)
      } else {
        #expect(throws: TokenRefusal.tooLong(bytes: bytes)) {
          try set.verify(token, now: Self.now)
        }
      }
    }
    #expect(read >= JSONWebToken.bytesMax - 1)
  }

  @Test(arguments: [
    "", ".", "..", "a.b", "a.b.c.d", "e30.e30.=", "e30.e30.e30", "bm8.e30.AAAA", "!.e30.AAAA",
    "W10.e30.AAAA", "eyJhbGciOiJIUzI1NiIsImtpZCI6ImgifQ==.e30.AAAA", " e30.e30.AAAA",
  ])
  func `what is no token is refused`(text: String) {
    #expect(throws: TokenRefusal.self) { try set.verify(text, now: Self.now) }
  }

  @Test func `claims that are no object are refused`() {
    #expect(throws: TokenRefusal.malformed("its claims is not a JSON object")) {
      try set.verify(
        token(header: ["alg": "HS256", "kid": "h"], claims: [1], key: Self.secret), now: Self.now)
    }
  }

  @Test func `no refusal shows a signature or a key`() {
    let token = JSONWebToken.signed(
      claims: ["exp": 1], secret: [UInt8](repeating: 8, count: 32), keyID: "h")
    var text = ""
    do throws(TokenRefusal) { _ = try set.verify(token, now: Self.now) } catch { text = "\(error)" }
    #expect(text == "The token's signature does not fit its content.")
  }
}
