import Pipeline
import Pushes
import Vocabulary

extension PostgreSQLTransaction {
  func unsubscribe(_ endpoint: PushEndpoint, of user: UserID) throws -> Int {
    try connection.count(SubscriptionSQL.remove, endpoint, user)
  }

  func subscriptions(of users: [UserID]) throws -> [UserID: [WebPushSubscription]] {
    let rows = try connection.rows(
      SubscriptionSQL.ofUsers, users, read: WebPushSubscription.init(row:))
    return Dictionary(grouping: rows, by: \.userID)
  }

  func subscriptions(_ ids: [SubscriptionID]) throws -> [SubscriptionID: WebPushSubscription] {
    let rows = try connection.rows(SubscriptionSQL.some, ids, read: WebPushSubscription.init(row:))
    return Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) })
  }

  func prune(_ subscription: WebPushSubscription, because reason: String, at moment: UnixTime)
    throws -> Bool
  {
    try connection.count(
      SubscriptionSQL.prune, subscription.endpoint, subscription.storedP256dh,
      moment, reason) > 0
  }

  func restore(_ ids: [SubscriptionID], prunedBecause reason: String) throws -> Int {
    try connection.count(SubscriptionSQL.restore, ids, reason)
  }

  func markResubscribe(_ subscription: WebPushSubscription, at moment: UnixTime) throws -> Bool {
    try connection.count(
      SubscriptionSQL.mark, subscription.endpoint, subscription.storedP256dh,
      subscription.vapidKeyID, moment) > 0
  }

  func removeSubscriptions(prunedBefore moment: UnixTime, limit: Int) throws -> Int {
    try connection.count(SubscriptionSQL.removePruned, moment, limit)
  }
}

enum SubscriptionSQL: String, SQLText {
  case save = """
    INSERT INTO webpush_subscriptions AS known (endpoint, id, user_id, p256dh, auth, vapid_key_id,
      created_at_ms, resubscribe_since_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (endpoint) DO UPDATE SET
      id = excluded.id,
      user_id = excluded.user_id,
      p256dh = excluded.p256dh,
      auth = excluded.auth,
      vapid_key_id = CASE WHEN excluded.p256dh = known.p256dh AND excluded.auth = known.auth
        THEN known.vapid_key_id ELSE excluded.vapid_key_id END,
      created_at_ms = CASE WHEN excluded.p256dh = known.p256dh AND excluded.auth = known.auth
        THEN known.created_at_ms ELSE excluded.created_at_ms END,
      resubscribe_since_ms = CASE WHEN excluded.p256dh = known.p256dh AND excluded.auth = known.auth
        THEN known.resubscribe_since_ms ELSE excluded.resubscribe_since_ms END,
      pruned_at_ms = NULL, pruned_because = NULL
    RETURNING user_id, endpoint, p256dh, auth, vapid_key_id, created_at_ms, resubscribe_since_ms
    """
  case remove = "DELETE FROM webpush_subscriptions WHERE endpoint = $1 AND user_id = $2"
  case ofUsers = """
    SELECT user_id, endpoint, p256dh, auth, vapid_key_id, created_at_ms, resubscribe_since_ms
    FROM webpush_subscriptions
    WHERE user_id = ANY($1) AND pruned_at_ms IS NULL AND resubscribe_since_ms IS NULL
    ORDER BY created_at_ms, endpoint
    """
  case some = """
    SELECT user_id, endpoint, p256dh, auth, vapid_key_id, created_at_ms, resubscribe_since_ms
    FROM webpush_subscriptions
    WHERE id = ANY($1) AND pruned_at_ms IS NULL AND resubscribe_since_ms IS NULL
    """
  case prune = """
    UPDATE webpush_subscriptions SET pruned_at_ms = $3, pruned_because = $4
    WHERE endpoint = $1 AND p256dh = $2 AND pruned_at_ms IS NULL
    """
  case restore = """
    UPDATE webpush_subscriptions SET pruned_at_ms = NULL, pruned_because = NULL
    WHERE id = ANY($1) AND pruned_at_ms IS NOT NULL AND pruned_because = $2
    """
  case mark = """
    UPDATE webpush_subscriptions SET resubscribe_since_ms = $4
    WHERE endpoint = $1 AND p256dh = $2 AND vapid_key_id = $3 AND resubscribe_since_ms IS NULL
    """
  case removePruned = """
    DELETE FROM webpush_subscriptions WHERE id = ANY(ARRAY(
      SELECT id FROM webpush_subscriptions
      WHERE pruned_at_ms < $1 ORDER BY pruned_at_ms LIMIT $2))
    """
}
