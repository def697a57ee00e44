import Cryptography
import Vocabulary

package enum SubscriptionKind {}
/// Names one browser's subscription: a UUID made of its endpoint and key, so that a browser that
/// subscribes anew gets another id.
package typealias SubscriptionID = Identifier<SubscriptionKind>

/// One browser that takes Web Push, as it told us.
package struct WebPushSubscription: Hashable, Sendable {
  package let id: SubscriptionID
  package let userID: UserID
  package let endpoint: PushEndpoint
  package let keys: WebPushKeys
  /// The public VAPID key it was made with, base64url of 65 octets: only that one may send to it.
  package let vapidKeyID: String
  package let createdAt: UnixTime
  /// Since when its push service refuses our key: the browser must subscribe anew, and nothing is
  /// sent meanwhile. Nil while all is well.
  package var resubscribeSince: UnixTime?

  package init(
    userID: UserID, endpoint: PushEndpoint, keys: WebPushKeys, vapidKeyID: String,
    createdAt: UnixTime, resubscribeSince: UnixTime? = nil
  ) {
    id = SubscriptionID(
      UUIDText.named(["subscription", endpoint.text, Base64URL.encode(keys.p256dh)]))
    self.userID = userID
    self.endpoint = endpoint
    self.keys = keys
    self.vapidKeyID = vapidKeyID
    self.createdAt = createdAt
    self.resubscribeSince = resubscribeSince
  }

  /// The browser's public point, 65 octets.
  package var p256dh: [UInt8] { keys.p256dh }
  /// 16 octets.
  package var auth: [UInt8] { keys.auth }

  /// Eight digits that name it in logs and records: whoever knows the endpoint may flood it.
  package var fingerprint: String { String(Digest.sha256(endpoint.text).hex.prefix(8)) }
}

extension Identifier where Kind == SubscriptionKind {
  /// Eight digits that name the subscription where its endpoint is not known any more.
  package var fingerprint: String { String(Digest.sha256(text).hex.prefix(8)) }
}
