import Cryptography
import Foundation
import Vocabulary

/// One notification to one subscription: what travels on the `webpush` queue. Encrypted only at the
/// moment of sending, so that the plaintext never gets old keys.
package struct WebPushJob: Hashable, Sendable {
  /// The same however often the event that caused it comes: made of dedupe key and subscription.
  package let id: String
  package let sessionID: SessionID
  package let userID: UserID
  package let subscriptionID: SubscriptionID
  /// Which notification it belongs to; its `Topic` is made of it. Once that is resolved, the job is
  /// not sent.
  package let dedupeKey: String
  /// After this the push is pointless and is dropped.
  package let deadline: UnixTime
  /// When the mutation happened.
  package let causedAt: UnixTime
  package let traceparent: String?
  /// Plaintext JSON; see ``WebPushPayload``.
  package let payload: Data

  /// `id` nil: made of dedupe key and subscription, as the notifier wants it.
  package init(
    id: String? = nil, sessionID: SessionID, userID: UserID, subscriptionID: SubscriptionID,
    dedupeKey: String, deadline: UnixTime, causedAt: UnixTime, traceparent: String?, payload: Data
  ) {
    self.id = id ?? UUIDText.named(["web push", dedupeKey, subscriptionID.text])
    self.sessionID = sessionID
    self.userID = userID
    self.subscriptionID = subscriptionID
    self.dedupeKey = dedupeKey
    self.deadline = deadline
    self.causedAt = causedAt
    self.traceparent = traceparent
    self.payload = payload
  }
}
