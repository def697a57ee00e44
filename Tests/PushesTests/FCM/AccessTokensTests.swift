import Cryptography
import Foundation
import Testing
import Vocabulary

@testable import Pushes

@Suite struct AccessTokensTests {
  private static let hour: Duration = .seconds(3600)

  @Test func `one asks at a time, and before the end`() throws {
    var tokens = AccessTokens()
    #expect(tokens.current(elapsed: .zero) == nil)
    let asks1 = tokens.shouldAsk(elapsed: .zero)
    #expect(asks1)
    let asks2 = tokens.shouldAsk(elapsed: .zero)
    #expect(!asks2, "somebody asks already")
    tokens.granted("one", life: Self.hour, elapsed: .zero)
    #expect(tokens.current(elapsed: .seconds(3599))?.text == "one")
    let asks3 = tokens.shouldAsk(elapsed: .seconds(3299))
    #expect(!asks3)
    let asks4 = tokens.shouldAsk(elapsed: .seconds(3300))
    #expect(asks4)
    #expect(tokens.current(elapsed: .seconds(3300))?.text == "one", "the old one serves meanwhile")
    #expect(tokens.current(elapsed: Self.hour) == nil)
  }

  @Test func `a refusal of the old token keeps the new one`() throws {
    var tokens = AccessTokens()
    tokens.granted("one", life: Self.hour, elapsed: .zero)
    let first = try #require(tokens.current(elapsed: .zero))
    tokens.granted("two", life: Self.hour, elapsed: .zero)
    tokens.refused(first.number)
    #expect(tokens.current(elapsed: .zero)?.text == "two")
    tokens.refused(try #require(tokens.current(elapsed: .zero)).number)
    #expect(tokens.current(elapsed: .zero) == nil)
    let asks5 = tokens.shouldAsk(elapsed: .zero)
    #expect(asks5)
  }

  @Test func `after a failure there is a pause, and what waits is told`() {
    var tokens = AccessTokens()
    let asks6 = tokens.shouldAsk(elapsed: .zero)
    #expect(asks6)
    #expect(!tokens.isHopeless(elapsed: .zero), "it is being asked for")
    let refusal = NoAccessToken("invalid_grant", isRefusal: true)
    tokens.failed(refusal, elapsed: .zero)
    #expect(tokens.isHopeless(elapsed: .seconds(9)))
    #expect(tokens.trouble == refusal)
    let asks7 = tokens.shouldAsk(elapsed: .seconds(9))
    #expect(!asks7)
    let asks8 = tokens.shouldAsk(elapsed: .seconds(10))
    #expect(asks8)
  }

  @Test func `what the endpoint answers`() {
    let granted = Data(#"{"access_token":"ya29.x","expires_in":3599,"token_type":"Bearer"}"#.utf8)
    #expect(
      AccessTokenAnswer(status: 200, body: granted) == .granted("ya29.x", life: .seconds(3599)))
    let refused = Data(#"{"error":"invalid_grant","error_description":"Invalid JWT"}"#.utf8)
    #expect(
      AccessTokenAnswer(status: 400, body: refused)
        == .refused(NoAccessToken("400 invalid_grant Invalid JWT", isRefusal: true)))
    for status in [200, 302, 408, 429, 500, 503] {
      #expect(
        AccessTokenAnswer(status: status, body: Data())
          == .refused(NoAccessToken("\(status)", isRefusal: false)), "nobody's mistake")
    }
  }

  @Test func `the assertion is RS256 by the account's key, for an hour at most`() throws {
    let key = RSASigningKey.generate()
    let account: JSONValue = [
      "project_id": "cook-example", "client_email": "a@b.example",
      "token_uri": "https://token.example/token", "private_key": .string(key.pem),
      "private_key_id": "k1",
    ]
    let assertion = try ServiceAccount(json: account.encoded)
      .assertion(now: UnixTime(milliseconds: 1_781_784_000_000))
    let token = try JSONWebToken(assertion)
    #expect(token.isSigned(by: key))
    #expect(!token.isSigned(by: .generate()))
    #expect(token.header == ["alg": "RS256", "kid": "k1", "typ": "JWT"])
    let claims = try token.claims()
    #expect(claims["iss"] == "a@b.example")
    #expect(claims["aud"] == "https://token.example/token")
    #expect(claims["exp"] == .integer(1_781_787_600))
  }

  @Test func `a file that is no service account is refused by name, and never quoted`() {
    let whole: [String: JSONValue] = [
      "project_id": "p", "client_email": "a@b.example", "token_uri": "https://t.example",
      "private_key": "secret",
    ]
    for name in whole.keys {
      var account = whole
      account[name] = nil
      #expect {
        try ServiceAccount(json: JSONValue.object(account).encoded)
      } throws: { "\($0)".contains(name == "private_key" ? "private_key" : name) }
    }
    #expect {
      try ServiceAccount(json: JSONValue.object(whole).encoded)
    } throws: { "\($0)".contains("private_key") && !"\($0)".contains("secret") }
  }
}
