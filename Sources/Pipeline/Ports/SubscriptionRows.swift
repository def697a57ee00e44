import Pushes
import Vocabulary

/// The table `webpush_subscriptions`: one row per endpoint.
package protocol SubscriptionRows {
  /// Inserts, or replaces what is known of the endpoint and takes back an earlier pruning. An
  /// endpoint belongs to one browser: when another user registers it, it moves to that user.
  ///
  /// A row with the same keys keeps its VAPID key, its creation and its mark: it is the same
  /// subscription, whatever key new ones are made with.
  ///
  /// - Returns: the row as it is now.
  func save(_ subscription: WebPushSubscription) throws -> WebPushSubscription
  /// Removes the user's row of this endpoint.
  ///
  /// - Returns: how many rows went, 0 or 1.
  func unsubscribe(_ endpoint: PushEndpoint, of user: UserID) throws -> Int
  /// Where to push to: those that are neither pruned nor marked "resubscribe", oldest first.
  func subscriptions(of users: [UserID]) throws -> [UserID: [WebPushSubscription]]
  /// Those of these ids that are neither pruned nor marked.
  func subscriptions(_ ids: [SubscriptionID]) throws -> [SubscriptionID: WebPushSubscription]
  /// Marks as dead, if endpoint and key still are those that were pushed to.
  ///
  /// - Returns: whether it was.
  func prune(_ subscription: WebPushSubscription, because reason: String, at moment: UnixTime)
    throws -> Bool
  /// Takes back the pruning of these where it was done for this reason.
  ///
  /// - Returns: how many rows were restored.
  func restore(_ ids: [SubscriptionID], prunedBecause reason: String) throws -> Int
  /// Marks that the browser must subscribe anew, if endpoint, key and VAPID key still are those
  /// that were pushed to.
  ///
  /// - Returns: whether it was.
  func markResubscribe(_ subscription: WebPushSubscription, at moment: UnixTime) throws -> Bool
  /// Removes rows pruned before `moment`, at most `limit` of them.
  ///
  /// - Returns: how many rows went.
  func removeSubscriptions(prunedBefore moment: UnixTime, limit: Int) throws -> Int
}
