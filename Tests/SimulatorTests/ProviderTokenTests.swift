import Cryptography
import Simulator
import Testing
import Vocabulary

@Suite struct ProviderTokenTests {
  private func reason(
    _ token: String, on history: inout ProviderTokenHistory, at moment: UnixTime = Making.now
  ) throws -> String? {
    do {
      let request = Making.request(["authorization": "bearer \(token)"])
      _ = try Making.rules().accept(request, on: &history, at: moment) { _ in .reachable(.update) }
      return nil
    } catch let refusal as APNsRefusal {
      return "\(refusal.status) \(refusal.reason)"
    }
  }

  @Test(
    arguments: [
      (-3600, nil), (-3601, "403 ExpiredProviderToken"), (300, nil),
      (301, "403 ExpiredProviderToken"),
    ] as [(Int64, String?)])
  func `a token is good from 5 minutes ahead to an hour old`(seconds: Int64, wanted: String?) throws
  {
    var history = ProviderTokenHistory()
    let token = Making.jwt(iat: .integer(Making.now.seconds + seconds))
    #expect(try reason(token, on: &history) == wanted)
  }

  @Test func `a token grows old on its connection too`() throws {
    var history = ProviderTokenHistory()
    let token = Making.jwt()
    #expect(try reason(token, on: &history) == nil)
    #expect(try reason(token, on: &history, at: Making.now + .seconds(3600)) == nil)
    #expect(
      try reason(token, on: &history, at: Making.now + .seconds(3601))
        == "403 ExpiredProviderToken")
  }

  @Test(arguments: [
    Making.jwt(iat: .string("1781784000")), Making.jwt(iat: .integer(1_781_784_000_000)),
    Making.jwt(iat: .null), Making.jwt(iss: "OTHER12345"), Making.jwt(kid: "OTHER12345"),
    Making.jwt(kid: nil), Making.jwt(key: .generate()),
    JSONWebToken.signed(
      claims: ["iss": .string(Making.team), "iat": .integer(Making.now.seconds)],
      secret: [UInt8](repeating: 7, count: 32), keyID: Making.keyID),
    String(Making.jwt().dropLast(4)) + "AAAA",
  ])
  func `a token that is not ours is invalid`(token: String) throws {
    var history = ProviderTokenHistory()
    #expect(try reason(token, on: &history) == "403 InvalidProviderToken")
  }

  @Test func `a connection takes a new token every 20 minutes`() throws {
    var history = ProviderTokenHistory()
    let first = Making.jwt()
    let second = Making.jwt(iat: .integer(Making.now.seconds + 1))
    #expect(try reason(first, on: &history) == nil)
    let early = Making.now + .milliseconds(1_199_999)
    #expect(try reason(second, on: &history, at: early) == "429 TooManyProviderTokenUpdates")
    // The old one goes on.
    #expect(try reason(first, on: &history, at: early) == nil)
    #expect(try reason(second, on: &history, at: Making.now + .seconds(1200)) == nil)
    var other = ProviderTokenHistory()
    #expect(try reason(second, on: &other, at: early) == nil)
  }

  @Test func `a key that is none is refused at start`() {
    #expect(throws: SettingsError.self) {
      try ProviderTokenRules(keyID: "K", teamID: "T", publicKey: [4, 1, 2])
    }
  }
}
