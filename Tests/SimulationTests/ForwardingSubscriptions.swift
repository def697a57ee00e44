import Foundation
import Pipeline
import Pushes
import Vocabulary

extension ForwardingTransaction {
  func save(_ subscription: WebPushSubscription) throws -> WebPushSubscription {
    try inner.save(subscription)
  }
  func unsubscribe(_ endpoint: PushEndpoint, of user: UserID) throws -> Int {
    try inner.unsubscribe(endpoint, of: user)
  }
  func subscriptions(of users: [UserID]) throws -> [UserID: [WebPushSubscription]] {
    try inner.subscriptions(of: users)
  }
  func subscriptions(_ ids: [SubscriptionID]) throws -> [SubscriptionID: WebPushSubscription] {
    try inner.subscriptions(ids)
  }
  func prune(_ subscription: WebPushSubscription, because reason: String, at moment: UnixTime)
    throws -> Bool
  {
    try inner.prune(subscription, because: reason, at: moment)
  }
  func restore(_ ids: [SubscriptionID], prunedBecause reason: String) throws -> Int {
    try inner.restore(ids, prunedBecause: reason)
  }
  func markResubscribe(_ subscription: WebPushSubscription, at moment: UnixTime) throws -> Bool {
    try inner.markResubscribe(subscription, at: moment)
  }
  func removeSubscriptions(prunedBefore moment: UnixTime, limit: Int) throws -> Int {
    try inner.removeSubscriptions(prunedBefore: moment, limit: limit)
  }
}
