import Cryptography
import Testing
import Vocabulary

@Suite struct TokenAudienceTests {
  private static let secret = [UInt8](repeating: 7, count: 32)
  private let set: JSONWebKeySet

  init() throws { set = try KeySets.make([KeySets.secret(Self.secret, id: "h")]) }

  /// What is said of a token with `claims` when that issuer and audience are wanted; nil: taken.
  private func refusal(
    _ claims: [String: JSONValue], issuer: String? = nil, audience: String? = nil
  )
    -> String?
  {
    var set = set
    (set.issuer, set.audience) = (issuer, audience)
    let all = claims.merging(["exp": 1_900_000_000]) { $1 }
    let token = JSONWebToken.signed(claims: .object(all), secret: Self.secret, keyID: "h")
    do throws(TokenRefusal) {
      _ = try set.verify(token, now: UnixTime(seconds: 1_800_000_000))
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test(
    arguments: [
      (["aud": "lockstep"], nil), (["aud": ["lockstep"]], nil), (["aud": ["a", "lockstep"]], nil),
      ([:], "The token has no aud; want \"lockstep\"."),
      (["aud": "other"], "The token's aud is \"other\"; want \"lockstep\"."),
      (["aud": "Lockstep"], "The token's aud is \"Lockstep\"; want \"lockstep\"."),
      (["aud": "lockstep "], "The token's aud is \"lockstep \"; want \"lockstep\"."),
      (["aud": ["a", "b"]], "The token's aud is \"a\", \"b\"; want \"lockstep\"."),
      (
        ["aud": ["a", "b", "c", "d"]],
        "The token's aud is \"a\", \"b\", \"c\" and others; want \"lockstep\"."
      ),
      (["aud": []], "The token's aud is empty; want \"lockstep\"."),
      (["aud": 7], "The token's aud is a number; want a string."),
      (["aud": ["lockstep", 7]], "The token's aud is a number; want a string."),
      (["aud": nil], "The token's aud is null; want a string."),
    ] as [([String: JSONValue], String?)])
  func `a token must be for us, alone or among others`(
    claims: [String: JSONValue], wanted: String?
  ) {
    #expect(refusal(claims, audience: "lockstep") == wanted)
    #expect(refusal(claims) == nil, "not looked at when nothing is wanted")
  }

  @Test(
    arguments: [
      (["iss": "https://login.app.example"], nil),
      ([:], "The token has no iss; want \"https://login.app.example\"."),
      (
        ["iss": "https://login.app.example/"],
        "The token's iss is \"https://login.app.example/\"; want \"https://login.app.example\"."
      ),
      (["iss": ["https://login.app.example"]], "The token's iss is an array; want a string."),
    ] as [([String: JSONValue], String?)])
  func `a token must be of the wanted issuer`(claims: [String: JSONValue], wanted: String?) {
    #expect(refusal(claims, issuer: "https://login.app.example") == wanted)
  }

  @Test func `what is wanted is in what we sign, unless the claims say otherwise`() throws {
    let now = UnixTime(seconds: 1_800_000_000)
    var set = set
    (set.issuer, set.audience) = ("us", "lockstep")
    let claims: JSONValue = ["sub": "dennis", "exp": 1_900_000_000]
    let verified = try set.verify(try #require(set.sign(claims: claims)), now: now)
    #expect(verified["iss"] == "us" && verified["aud"] == "lockstep")
    let other = try #require(set.sign(claims: ["aud": "other", "exp": 1_900_000_000]))
    #expect(throws: TokenRefusal.other(claim: "aud", given: ["other"], wanted: "lockstep")) {
      try set.verify(other, now: now)
    }
  }
}
