import Pipeline
import Pushes
import Vocabulary

// MARK: Web Push subscriptions

extension InMemoryTransaction {
  func save(_ subscription: WebPushSubscription) throws -> WebPushSubscription {
    try change { tables in
      var arriving = subscription
      if let known = tables.subscriptions[subscription.endpoint]?.row,
        known.keys == subscription.keys
      {
        arriving = WebPushSubscription(
          userID: subscription.userID, endpoint: known.endpoint, keys: known.keys,
          vapidKeyID: known.vapidKeyID, createdAt: known.createdAt,
          resubscribeSince: known.resubscribeSince)
      }
      tables.subscriptions[subscription.endpoint] = .init(row: arriving)
      return arriving
    }
  }

  func unsubscribe(_ endpoint: PushEndpoint, of user: UserID) throws -> Int {
    try change { tables in
      guard tables.subscriptions[endpoint]?.row.userID == user else { return 0 }
      tables.subscriptions[endpoint] = nil
      return 1
    }
  }

  func subscriptions(of users: [UserID]) throws -> [UserID: [WebPushSubscription]] {
    let wanted = Set(users)
    let usable = try usableSubscriptions().filter { wanted.contains($0.userID) }.sorted {
      ($0.createdAt, $0.endpoint.text) < ($1.createdAt, $1.endpoint.text)
    }
    return Dictionary(grouping: usable, by: \.userID)
  }

  func subscriptions(_ ids: [SubscriptionID]) throws -> [SubscriptionID: WebPushSubscription] {
    let wanted = Set(ids)
    let usable = try usableSubscriptions().filter { wanted.contains($0.id) }
    return Dictionary(uniqueKeysWithValues: usable.map { ($0.id, $0) })
  }

  private func usableSubscriptions() throws -> [WebPushSubscription] {
    try rows().subscriptions.values
      .filter { $0.pruned == nil && $0.row.resubscribeSince == nil }.map(\.row)
  }

  func prune(_ subscription: WebPushSubscription, because reason: String, at moment: UnixTime)
    throws -> Bool
  {
    try change { tables in
      guard let known = tables.subscriptions[subscription.endpoint], known.pruned == nil,
        known.row.p256dh == subscription.p256dh
      else { return false }
      tables.subscriptions[subscription.endpoint]?.pruned = (moment, reason)
      return true
    }
  }

  func restore(_ ids: [SubscriptionID], prunedBecause reason: String) throws -> Int {
    let wanted = Set(ids)
    return try change { tables in
      let places = tables.subscriptions.filter {
        wanted.contains($0.value.row.id) && $0.value.pruned?.reason == reason
      }
      for endpoint in places.keys { tables.subscriptions[endpoint]?.pruned = nil }
      return places.count
    }
  }

  func markResubscribe(_ subscription: WebPushSubscription, at moment: UnixTime) throws -> Bool {
    try change { tables in
      guard let known = tables.subscriptions[subscription.endpoint]?.row,
        known.resubscribeSince == nil, known.p256dh == subscription.p256dh,
        known.vapidKeyID == subscription.vapidKeyID
      else { return false }
      tables.subscriptions[subscription.endpoint]?.row.resubscribeSince = moment
      return true
    }
  }

  func removeSubscriptions(prunedBefore moment: UnixTime, limit: Int) throws -> Int {
    try change { tables in
      let old = tables.subscriptions.filter { ($0.value.pruned?.at ?? moment) < moment }
        .sorted { ($0.value.pruned?.at ?? moment) < ($1.value.pruned?.at ?? moment) }
        .prefix(limit)
      for (endpoint, _) in old { tables.subscriptions[endpoint] = nil }
      return old.count
    }
  }
}
