import Pipeline
import Pushes
import Vocabulary

extension Migrations {
  /// Step 3. Keys are base64url, as browsers write them.
  static let webPushTables = """
    CREATE TABLE webpush_subscriptions (
      endpoint TEXT PRIMARY KEY NOT NULL,
      id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      p256dh TEXT NOT NULL,
      auth TEXT NOT NULL,
      vapid_key_id TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL,
      resubscribe_since_ms INTEGER,
      pruned_at_ms INTEGER,
      pruned_because TEXT
    ) STRICT;
    CREATE UNIQUE INDEX webpush_subscriptions_by_id ON webpush_subscriptions (id);
    CREATE INDEX webpush_subscriptions_by_user ON webpush_subscriptions (user_id);
    CREATE INDEX webpush_subscriptions_by_pruning ON webpush_subscriptions (pruned_at_ms)
      WHERE pruned_at_ms IS NOT NULL;

    -- Push services answer 201, and some 202, where APNs answers 200.
    DROP INDEX deliveries_accepted;
    CREATE INDEX deliveries_accepted ON deliveries (job_id) WHERE status IN (200, 201, 202);

    PRAGMA user_version = 3;
    """
}

extension SQLiteTransaction {
  func unsubscribe(_ endpoint: PushEndpoint, of user: UserID) throws -> Int {
    try connection.count(SubscriptionSQL.remove, endpoint, user)
  }

  func subscriptions(of users: [UserID]) throws -> [UserID: [WebPushSubscription]] {
    var found: [UserID: [WebPushSubscription]] = [:]
    for user in users where found[user] == nil {
      let rows = try connection.rows(
        SubscriptionSQL.ofUser, user, read: WebPushSubscription.init(row:))
      if !rows.isEmpty { found[user] = rows }
    }
    return found
  }

  func subscriptions(_ ids: [SubscriptionID]) throws -> [SubscriptionID: WebPushSubscription] {
    var found: [SubscriptionID: WebPushSubscription] = [:]
    for id in ids where found[id] == nil {
      found[id] = try connection.first(
        SubscriptionSQL.one, id, read: WebPushSubscription.init(row:))
    }
    return found
  }

  func prune(_ subscription: WebPushSubscription, because reason: String, at moment: UnixTime)
    throws -> Bool
  {
    try connection.count(
      SubscriptionSQL.prune, subscription.endpoint, subscription.storedP256dh,
      moment, reason) > 0
  }

  func restore(_ ids: [SubscriptionID], prunedBecause reason: String) throws -> Int {
    try ids.reduce(0) { try $0 + connection.count(SubscriptionSQL.restore, $1, reason) }
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
    INSERT INTO webpush_subscriptions (endpoint, id, user_id, p256dh, auth, vapid_key_id,
      created_at_ms, resubscribe_since_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (endpoint) DO UPDATE SET
      id = excluded.id,
      user_id = excluded.user_id,
      p256dh = excluded.p256dh,
      auth = excluded.auth,
      vapid_key_id = CASE WHEN excluded.p256dh = p256dh AND excluded.auth = auth
        THEN vapid_key_id ELSE excluded.vapid_key_id END,
      created_at_ms = CASE WHEN excluded.p256dh = p256dh AND excluded.auth = auth
        THEN created_at_ms ELSE excluded.created_at_ms END,
      resubscribe_since_ms = CASE WHEN excluded.p256dh = p256dh AND excluded.auth = auth
        THEN resubscribe_since_ms ELSE excluded.resubscribe_since_ms END,
      pruned_at_ms = NULL, pruned_because = NULL
    RETURNING user_id, endpoint, p256dh, auth, vapid_key_id, created_at_ms, resubscribe_since_ms
    """
  case remove = "DELETE FROM webpush_subscriptions WHERE endpoint = ?1 AND user_id = ?2"
  case ofUser = """
    SELECT user_id, endpoint, p256dh, auth, vapid_key_id, created_at_ms, resubscribe_since_ms
    FROM webpush_subscriptions
    WHERE user_id = ? AND pruned_at_ms IS NULL AND resubscribe_since_ms IS NULL
    ORDER BY created_at_ms, endpoint
    """
  case one = """
    SELECT user_id, endpoint, p256dh, auth, vapid_key_id, created_at_ms, resubscribe_since_ms
    FROM webpush_subscriptions
    WHERE id = ? AND pruned_at_ms IS NULL AND resubscribe_since_ms IS NULL
    """
  case prune = """
    UPDATE webpush_subscriptions SET pruned_at_ms = ?3, pruned_because = ?4
    WHERE endpoint = ?1 AND p256dh = ?2 AND pruned_at_ms IS NULL
    """
  case restore = """
    UPDATE webpush_subscriptions SET pruned_at_ms = NULL, pruned_because = NULL
    WHERE id = ?1 AND pruned_at_ms IS NOT NULL AND pruned_because = ?2
    """
  case mark = """
    UPDATE webpush_subscriptions SET resubscribe_since_ms = ?4
    WHERE endpoint = ?1 AND p256dh = ?2 AND vapid_key_id = ?3 AND resubscribe_since_ms IS NULL
    """
  case removePruned = """
    DELETE FROM webpush_subscriptions WHERE rowid IN (
      SELECT rowid FROM webpush_subscriptions
      WHERE pruned_at_ms < ?1 ORDER BY pruned_at_ms LIMIT ?2)
    """
}
