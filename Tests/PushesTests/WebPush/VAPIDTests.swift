import Cryptography
import Foundation
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct VAPIDTests {
  private let key = VAPIDKey(SigningKey.generate())

  private func tokens() throws -> VAPIDTokens {
    VAPIDTokens(subject: try VAPIDSubject("mailto:ops@app.example"))
  }

  private func endpoint(_ text: String) throws -> PushEndpoint { try PushEndpoint(text) }

  @Test(arguments: [
    "mailto:ops@app.example", "mailto:a.b+c@x.co", "https://app.example",
    "https://app.example/contact", "https://app.example:8443/x",
  ])
  func `a subject that can be reached is taken`(text: String) throws {
    #expect(try VAPIDSubject(text).text == text)
  }

  @Test(arguments: [
    ("mailto:ops@localhost", VAPIDSubjectError.deadEnd("localhost")),
    ("https://localhost", .deadEnd("localhost")),
    ("https://localhost:3000/x", .deadEnd("localhost")),
    ("https://LOCALHOST", .deadEnd("LOCALHOST")), ("mailto:a@host.local", .deadEnd("host.local")),
    ("https://x.invalid/", .deadEnd("x.invalid")),
    ("mailto:a@b.localhost", .deadEnd("b.localhost")),
    ("mailto:Ops <ops@app.example>", .strangeCharacter),
    ("mailto: ops@app.example", .strangeCharacter),
    ("<mailto:ops@app.example>", .strangeCharacter), ("ops@app.example", .notReachable),
    ("http://app.example", .notReachable), ("", .notReachable), ("mailto:", .notReachable),
    ("mailto:ops", .notReachable), ("mailto:@app.example", .notReachable),
    ("mailto:a@b@c.example", .notReachable), ("https://", .notReachable),
    ("https://app", .notReachable), ("https://10.0.0.1/", .notReachable),
    ("https://app..example", .notReachable), ("mailto:a@app.example.", .notReachable),
  ])
  func `F-1 another is refused with the reason`(text: String, error: VAPIDSubjectError) {
    #expect(throws: error) { try VAPIDSubject(text) }
  }

  @Test func `the first key of a file signs new subscriptions, the others theirs`() throws {
    let pair = [SigningKey.generate(), SigningKey.generate()]
    let keys = try VAPIDKeys(pem: pair.map(\.pem).joined())
    #expect(keys.first.id == Base64URL.encode(pair[0].publicKey))
    let second = Base64URL.encode(pair[1].publicKey)
    #expect(keys[id: second]?.id == second)
    #expect(keys[id: "unknown"] == nil)
    #expect(throws: SigningKeyError.self) { try VAPIDKeys(pem: "") }
  }

  @Test(arguments: [
    ("https://fcm.googleapis.com/fcm/send/x", "https://fcm.googleapis.com"),
    ("https://fcm.googleapis.com:443/x?y", "https://fcm.googleapis.com"),
    ("https://localhost:9443/x", "https://localhost:9443"),
  ])
  func `F-1 a token names the origin, a number as its end, and the subject`(
    text: String, origin: String
  ) throws {
    var tokens = try tokens()
    let now = Samples.noon
    let header = tokens.authorization(
      for: try endpoint(text), key: key, now: now, elapsed: .zero)
    let parts = header.split(separator: " ")
    try #require(parts.count == 3 && parts[0] == "vapid")
    #expect(parts[2] == "k=\(key.id)")
    let text = String(parts[1].dropFirst(2).dropLast())
    let token = try JSONWebToken(text)
    #expect(token.header == ["alg": "ES256", "typ": "JWT"])
    #expect(
      try token.claims() == [
        "aud": .string(origin), "exp": .integer(now.seconds + 12 * 3600),
        "sub": "mailto:ops@app.example",
      ])
    let pieces = text.split(separator: ".")
    let signature = try #require(Base64URL.decode(pieces[2]))
    #expect(
      P256Point.isSignature(
        signature, of: "\(pieces[0]).\(pieces[1])".utf8, by: key.signing.publicKey))
  }

  @Test func `F-3 one token serves an origin and key for eleven hours`() throws {
    var tokens = try tokens()
    let start = Samples.noon
    func header(_ text: String, _ key: VAPIDKey, after span: Duration) throws -> String {
      tokens.authorization(
        for: try endpoint(text), key: key, now: start + span, elapsed: span)
    }
    let first = try header("https://a.push.apple.com/1", key, after: .zero)
    #expect(try header("https://a.push.apple.com/2", key, after: .seconds(11 * 3600 - 1)) == first)
    #expect(try header("https://b.push.apple.com/2", key, after: .zero) != first)
    let other = VAPIDKey(SigningKey.generate())
    #expect(try header("https://a.push.apple.com/1", other, after: .zero) != first)
    #expect(tokens.made == 3)
    #expect(try header("https://a.push.apple.com/1", key, after: .seconds(11 * 3600)) != first)
    #expect(tokens.made == 4)
  }

  @Test(arguments: [Duration.seconds(3600), .seconds(-3600), .seconds(61), .seconds(-61)])
  func `a clock that was set gives a new token`(step: Duration) throws {
    var tokens = try tokens()
    let place = try endpoint(WebPushSamples.endpoint)
    _ = tokens.authorization(for: place, key: key, now: Samples.noon, elapsed: .zero)
    let later = Samples.noon + .seconds(10)
    _ = tokens.authorization(for: place, key: key, now: later, elapsed: .seconds(10))
    #expect(tokens.made == 1)
    _ = tokens.authorization(for: place, key: key, now: later + step, elapsed: .seconds(10))
    #expect(tokens.made == 2)
  }

  @Test func `a refused token is renewed only when it is an hour old, or the clock was set`() throws
  {
    var tokens = try tokens()
    let place = try endpoint(WebPushSamples.endpoint)
    let now = Samples.noon
    _ = tokens.authorization(for: place, key: key, now: now, elapsed: .zero)
    func refused(_ now: UnixTime, _ elapsed: Duration) -> Bool {
      tokens.refused(by: place, key: key, now: now, elapsed: elapsed)
    }
    #expect(!refused(now + .seconds(3599), .seconds(3599)))
    #expect(refused(now + .seconds(3600), .seconds(3600)))
    _ = tokens.authorization(
      for: place, key: key, now: now + .seconds(3600), elapsed: .seconds(3600))
    #expect(tokens.made == 2)
    #expect(!refused(now + .seconds(3601), .seconds(3601)))
    #expect(refused(now + .seconds(9000), .seconds(3601)))
  }
}
