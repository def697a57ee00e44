import Cryptography
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct WebPushKeysTests {
  private let point = AgreementKey.generate().publicKey
  private let secret = [UInt8](1...16)

  @Test func `65 octets on the curve and 16 octets are taken`() throws {
    let keys = try WebPushKeys(
      p256dh: Base64URL.encode(point), auth: Base64URL.encode(secret))
    #expect(keys.p256dh == point)
    #expect(keys.auth == secret)
  }

  @Test func `other points are refused with what is wrong`() {
    var off = point
    off[40] ^= 1
    let cases: [([UInt8], WebPushKeysError)] = [
      (off, .notOnCurve), (point + [0], .pointLength(66)),
      (Array(point.dropLast()), .pointLength(64)),
      ([], .pointLength(0)), ([5] + point.dropFirst(), .notUncompressed),
      ([4] + [UInt8](repeating: 0, count: 64), .notOnCurve),
    ]
    for (bytes, error) in cases {
      #expect(throws: error) { try WebPushKeys(p256dh: bytes, auth: secret) }
      #expect(throws: error) { try WebPushKeys.point(Base64URL.encode(bytes)) }
    }
    #expect(throws: WebPushKeysError.notBase64URL) { try WebPushKeys.point("a+b=") }
  }

  @Test func `another length of the secret is refused`() {
    for count in [0, 15, 17] {
      #expect(throws: WebPushKeysError.secretLength(count)) {
        try WebPushKeys(p256dh: point, auth: [UInt8](repeating: 1, count: count))
      }
    }
  }

  @Test func `a browser that subscribes anew has another id`() throws {
    let first = try WebPushSamples.subscription()
    let second = try WebPushSamples.subscription()
    let again = WebPushSubscription(
      userID: UserID("u_dennis"), endpoint: first.endpoint, keys: first.keys,
      vapidKeyID: "other", createdAt: Samples.noon)
    #expect(first.id != second.id)
    #expect(first.id == again.id)
  }
}
