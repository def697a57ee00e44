/// Message encryption for Web Push (RFC 8291): only the browser reads it, no push service.
package enum WebPushEncryption {
  /// The longest plaintext: with header and tag 4096 octets, what every push service takes.
  package static let plaintextBytesMax = 3993
  private static let recordSize: UInt32 = 4096

  /// The body of a push, with a key pair and a salt of its own. Not padded: services that bridge
  /// to phones take less than 4096 octets.
  ///
  /// Nil when the plaintext is longer than ``plaintextBytesMax``, or `p256dh` is no point of the
  /// curve.
  package static func body(of plaintext: [UInt8], p256dh: [UInt8], auth: [UInt8]) -> [UInt8]? {
    body(
      of: plaintext, p256dh: p256dh, auth: auth, sender: .generate(),
      salt: RandomBytes.make(AES128GCMCoding.saltBytes))
  }

  /// With a given key pair and salt, for the RFC's vector. A pair or a salt must never serve twice.
  static func body(
    of plaintext: [UInt8], p256dh: [UInt8], auth: [UInt8], sender: AgreementKey, salt: [UInt8]
  ) -> [UInt8]? {
    guard plaintext.count <= plaintextBytesMax, let shared = sender.sharedSecret(with: p256dh)
    else { return nil }
    let secret = secret(
      shared: shared, auth: auth, receiverKey: p256dh, senderKey: sender.publicKey)
    return AES128GCMCoding.encoded(
      plaintext, secret: secret, salt: salt, keyID: sender.publicKey, recordSize: recordSize)
  }

  /// The browser's side. Nil when the body is malformed or meant for another.
  package static func plaintext(of body: [UInt8], receiver: AgreementKey, auth: [UInt8])
    -> [UInt8]?
  {
    guard let parts = AES128GCMCoding.Parts(body),
      let shared = receiver.sharedSecret(with: parts.keyID)
    else { return nil }
    let secret = secret(
      shared: shared, auth: auth, receiverKey: receiver.publicKey, senderKey: parts.keyID)
    return AES128GCMCoding.decoded(parts, secret: secret)
  }

  private static func secret(
    shared: [UInt8], auth: [UInt8], receiverKey: [UInt8], senderKey: [UInt8]
  ) -> [UInt8] {
    let root = HMACSHA256.code(of: shared, key: auth)
    let info = Array("WebPush: info".utf8) + [0] + receiverKey + senderKey + [1]
    return HMACSHA256.code(of: info, key: root)
  }
}
