import Cryptography

/// The `Topic` header: a push service keeps only the newest undelivered message of one topic.
package enum WebPushTopic {
  /// Always 32 characters of base64url: the most that RFC 8030 allows, and a length that Apple can
  /// decode.
  package static func of(_ dedupeKey: String) -> String {
    Base64URL.encode(Digest.sha256(dedupeKey).bytes.prefix(24))
  }
}
