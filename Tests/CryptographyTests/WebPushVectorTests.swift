import Cryptography
import Foundation
import Testing

@testable import Cryptography

/// The examples of RFC 8188, 8291 and 8292, and the limits.
@Suite struct WebPushVectorTests {
  private static let plaintext = Array("When I grow up, I want to be a watermelon".utf8)
  private static let auth = bytes("BTBZMqHH6r4Tts7J_aSIgg")
  private static let receiverPublic = bytes(
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
  private static let body = bytes(
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vC"
      + "YLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXL"
      + "WyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")

  private static func bytes(_ text: String) -> [UInt8] { Base64URL.decode(text) ?? [] }

  private func receiver() throws -> AgreementKey {
    try #require(
      AgreementKey(
        scalar: Self.bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"),
        publicKey: Self.receiverPublic))
  }

  private func sender() throws -> AgreementKey {
    try #require(
      AgreementKey(
        scalar: Self.bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
        publicKey: Self.bytes(
          "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8")
      ))
  }

  @Test func `both sides of RFC 8291 agree on the secret`() throws {
    let secret = Self.bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs")
    #expect(try sender().sharedSecret(with: Self.receiverPublic) == secret)
    #expect(try receiver().sharedSecret(with: sender().publicKey) == secret)
  }

  @Test func `the example of RFC 8291 comes out octet for octet`() throws {
    let made = WebPushEncryption.body(
      of: Self.plaintext, p256dh: Self.receiverPublic, auth: Self.auth, sender: try sender(),
      salt: Self.bytes("DGv6ra1nlYgDCS1FRnbzlw"))
    #expect(made == Self.body)
    #expect(made?.count == 144)
  }

  @Test func `the receiver of RFC 8291 reads it`() throws {
    let read = WebPushEncryption.plaintext(
      of: Self.body, receiver: try receiver(), auth: Self.auth)
    #expect(read == Self.plaintext)
  }

  @Test func `another receiver, another secret and a changed octet read nothing`() throws {
    let other = AgreementKey.generate()
    #expect(WebPushEncryption.plaintext(of: Self.body, receiver: other, auth: Self.auth) == nil)
    let auth = [UInt8](repeating: 1, count: 16)
    let mine = try receiver()
    #expect(WebPushEncryption.plaintext(of: Self.body, receiver: mine, auth: auth) == nil)
    // The record size is not part of what is sealed.
    for place in [0, 15, 20, 30, 85, 86, 143] {
      var changed = Self.body
      changed[place] ^= 1
      #expect(WebPushEncryption.plaintext(of: changed, receiver: mine, auth: Self.auth) == nil)
    }
    for count in [0, 1, 21, 86, 100] {
      let cut = Array(Self.body.prefix(count))
      #expect(WebPushEncryption.plaintext(of: cut, receiver: mine, auth: Self.auth) == nil)
    }
  }

  @Test func `the first example of RFC 8188 is read and written`() throws {
    let secret = Self.bytes("yqdlZ-tYemfogSmv7Ws5PQ")
    let body = Self.bytes("I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")
    let text = Array("I am the walrus".utf8)
    let parts = try #require(AES128GCMCoding.Parts(body))
    #expect(AES128GCMCoding.decoded(parts, secret: secret) == text)
    #expect(
      AES128GCMCoding.encoded(
        text, secret: secret, salt: parts.salt, keyID: [], recordSize: 4096) == body)
  }

  @Test func `a body of two records, the second example of RFC 8188, is not for Web Push`() {
    let body = Self.bytes(
      "uNCkWiNYzKTnBN9ji3-qWAAAABkCYTHOG8chz_gnvgOqdGYovxyjuqRyJFjEDyoF1Fvkj6hQPdPHI51OEUKEpgz3SsLW"
        + "IqS_uA")
    #expect(AES128GCMCoding.Parts(body) == nil)
  }

  @Test func `the token of RFC 8292 verifies`() {
    let token =
      "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQ"
      + "iLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0"
    let signature = Self.bytes(
      "i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA")
    let key = Self.bytes(
      "BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs")
    #expect(P256Point.isSignature(signature, of: token.utf8, by: key))
    #expect(!P256Point.isSignature(signature, of: (token + "x").utf8, by: key))
  }

  @Test func `3993 octets fill 4096, and 3994 are refused`() throws {
    let key = AgreementKey.generate()
    func body(_ count: Int) -> [UInt8]? {
      WebPushEncryption.body(
        of: [UInt8](repeating: 7, count: count), p256dh: key.publicKey, auth: Self.auth)
    }
    let full = try #require(body(3993))
    #expect(full.count == 4096)
    let read = WebPushEncryption.plaintext(of: full, receiver: key, auth: Self.auth)
    #expect(read == [UInt8](repeating: 7, count: 3993))
    #expect(body(3994) == nil)
    #expect(body(0)?.count == 86 + 17)
  }

  @Test func `no two messages share a key or a salt`() throws {
    let key = AgreementKey.generate()
    let bodies = try (0..<50).map { _ in
      try #require(
        WebPushEncryption.body(of: [1], p256dh: key.publicKey, auth: Self.auth))
    }
    let parts = bodies.compactMap { AES128GCMCoding.Parts($0) }
    #expect(Set(parts.map(\.salt)).count == 50)
    #expect(Set(parts.map(\.keyID)).count == 50)
  }

  @Test func `only points of the curve in their uncompressed form are keys`() {
    let good = AgreementKey.generate().publicKey
    #expect(P256Point.isOnCurve(good))
    var off = good
    off[64] ^= 1
    let zero = [4] + [UInt8](repeating: 0, count: 64)
    let compressed = [2] + good[1..<33]
    let wrongForm = [6] + good.dropFirst()
    for bad in [off, zero, Array(compressed), wrongForm, good + [0], Array(good.dropLast()), []] {
      #expect(!P256Point.isOnCurve(bad))
      #expect(AgreementKey.generate().sharedSecret(with: bad) == nil)
    }
  }

  @Test func `a scalar and a point that do not belong together are no pair`() throws {
    let scalar = Self.bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
    #expect(AgreementKey(scalar: scalar, publicKey: Self.receiverPublic) == nil)
    #expect(AgreementKey(scalar: [], publicKey: Self.receiverPublic) == nil)
  }
}
