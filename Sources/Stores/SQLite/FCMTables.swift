import Pipeline
import Pushes
import Vocabulary

extension Migrations {
  /// Step 10.
  static let fcmTables = """
    CREATE TABLE fcm_tokens (
      token TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL,
      device_id TEXT,
      package TEXT,
      registered_at_ms INTEGER NOT NULL,
      pruned_at_ms INTEGER,
      pruned_because TEXT
    ) STRICT;
    CREATE INDEX fcm_tokens_by_user ON fcm_tokens (user_id);
    CREATE INDEX fcm_tokens_by_pruning ON fcm_tokens (pruned_at_ms)
      WHERE pruned_at_ms IS NOT NULL;

    -- The newest rev of each card that FCM has taken for each phone.
    CREATE TABLE fcm_delivered (
      context_key TEXT NOT NULL,
      token TEXT NOT NULL,
      rev INTEGER NOT NULL,
      delivered_at_ms INTEGER NOT NULL,
      PRIMARY KEY (context_key, token)
    ) STRICT;
    CREATE INDEX fcm_delivered_by_age ON fcm_delivered (delivered_at_ms);

    PRAGMA user_version = 10;
    """

  /// Step 12: what the age of a phone is searched by, and how many messages the builder made.
  static let fcmBooks = """
    CREATE INDEX fcm_tokens_by_age ON fcm_tokens (registered_at_ms) WHERE pruned_at_ms IS NULL;
    ALTER TABLE builds ADD COLUMN fcm_jobs INTEGER NOT NULL DEFAULT 0;

    PRAGMA user_version = 12;
    """
}

extension SQLiteTransaction {
  func unregister(_ token: FCMToken, of user: UserID) throws -> Int {
    try connection.count(FCMSQL.remove, token, user)
  }

  func fcmRegistrations(of users: [UserID]) throws -> [UserID: [FCMRegistration]] {
    var found: [UserID: [FCMRegistration]] = [:]
    for user in users where found[user] == nil {
      let rows = try connection.rows(FCMSQL.ofUser, user, read: FCMRegistration.init(row:))
      if !rows.isEmpty { found[user] = rows }
    }
    return found
  }

  func fcmRegistrations(_ tokens: [FCMToken]) throws -> [FCMToken: FCMRegistration] {
    var found: [FCMToken: FCMRegistration] = [:]
    for token in tokens where found[token] == nil {
      found[token] = try connection.first(FCMSQL.one, token, read: FCMRegistration.init(row:))
    }
    return found
  }

  func prune(
    _ token: FCMToken, because reason: String, unlessRegisteredAfter moment: UnixTime,
    at now: UnixTime
  ) throws -> Bool {
    try connection.count(FCMSQL.prune, token, moment, now, reason) > 0
  }

  func restore(_ tokens: [FCMToken], prunedBecause reason: String) throws -> Int {
    try tokens.reduce(0) { try $0 + connection.count(FCMSQL.restore, $1, reason) }
  }

  func deliveredRev(of context: ContextKey, to token: FCMToken) throws -> Int? {
    try connection.first(FCMSQL.delivered, context, token) { try $0.next() }
  }

  func raiseDeliveredRev(of context: ContextKey, to token: FCMToken, rev: Int, at moment: UnixTime)
    throws -> Int
  {
    try connection.run(FCMSQL.raise, context, token, rev, moment)
    return try deliveredRev(of: context, to: token) ?? rev
  }

  func forgetDeliveredRev(of context: ContextKey, to token: FCMToken) throws {
    try connection.run(FCMSQL.forget, context, token)
  }

  func pruneFCM(
    registeredBefore moment: UnixTime, because reason: String, at now: UnixTime, limit: Int
  ) throws -> Int {
    try connection.count(FCMSQL.pruneOld, moment, reason, now, limit)
  }
}

enum FCMSQL: String, SQLText {
  case register = """
    INSERT INTO fcm_tokens (user_id, token, device_id, package, registered_at_ms)
    VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (token) DO UPDATE SET user_id = excluded.user_id, device_id = excluded.device_id,
      package = excluded.package, registered_at_ms = excluded.registered_at_ms,
      pruned_at_ms = NULL, pruned_because = NULL
    """
  case replace = """
    DELETE FROM fcm_tokens
    WHERE user_id = ?1 AND device_id = ?2 AND package IS ?3 AND token <> ?4
    """
  case remove = "DELETE FROM fcm_tokens WHERE token = ?1 AND user_id = ?2"
  case ofUser = """
    SELECT user_id, token, device_id, package, registered_at_ms FROM fcm_tokens
    WHERE user_id = ? AND pruned_at_ms IS NULL ORDER BY registered_at_ms, token
    """
  case one = """
    SELECT user_id, token, device_id, package, registered_at_ms FROM fcm_tokens
    WHERE token = ? AND pruned_at_ms IS NULL
    """
  case prune = """
    UPDATE fcm_tokens SET pruned_at_ms = ?3, pruned_because = ?4
    WHERE token = ?1 AND pruned_at_ms IS NULL AND registered_at_ms <= ?2
    """
  case pruneOld = """
    UPDATE fcm_tokens SET pruned_at_ms = ?3, pruned_because = ?2 WHERE rowid IN (
      SELECT rowid FROM fcm_tokens WHERE registered_at_ms < ?1 AND pruned_at_ms IS NULL
      ORDER BY registered_at_ms LIMIT ?4)
    """
  case listed = """
    SELECT rowid, user_id, token, device_id, package, registered_at_ms, pruned_at_ms,
      pruned_because
    FROM fcm_tokens
    WHERE (?1 IS NULL OR user_id = ?1) AND rowid > ?2
      AND (?3 IS NULL OR (pruned_at_ms IS NOT NULL) = ?3)
      AND (?4 IS NULL OR pruned_because = ?4) AND (?5 IS NULL OR pruned_at_ms >= ?5)
    ORDER BY rowid LIMIT ?6
    """
  case listedOfUser = """
    SELECT rowid, user_id, token, device_id, package, registered_at_ms, pruned_at_ms,
      pruned_because
    FROM fcm_tokens
    WHERE user_id = ?1 AND rowid > ?2 AND (?3 IS NULL OR (pruned_at_ms IS NOT NULL) = ?3)
      AND (?4 IS NULL OR pruned_because = ?4) AND (?5 IS NULL OR pruned_at_ms >= ?5)
    ORDER BY rowid LIMIT ?6
    """
  case restore = """
    UPDATE fcm_tokens SET pruned_at_ms = NULL, pruned_because = NULL
    WHERE token = ?1 AND pruned_at_ms IS NOT NULL AND pruned_because = ?2
    """
  case delivered = "SELECT rev FROM fcm_delivered WHERE context_key = ? AND token = ?"
  case raise = """
    INSERT INTO fcm_delivered (context_key, token, rev, delivered_at_ms) VALUES (?, ?, ?, ?)
    ON CONFLICT (context_key, token) DO UPDATE SET
      rev = max(rev, excluded.rev), delivered_at_ms = excluded.delivered_at_ms
    """
  case forget = "DELETE FROM fcm_delivered WHERE context_key = ? AND token = ?"
  case removePruned = """
    DELETE FROM fcm_tokens WHERE rowid IN (
      SELECT rowid FROM fcm_tokens WHERE pruned_at_ms < ?1 ORDER BY pruned_at_ms LIMIT ?2)
    """
  case removeDelivered = """
    DELETE FROM fcm_delivered WHERE rowid IN (
      SELECT rowid FROM fcm_delivered WHERE delivered_at_ms < ?1
      ORDER BY delivered_at_ms LIMIT ?2)
    """
}
