import Pipeline
import Pushes
import Vocabulary

extension PostgreSQLTransaction {
  func unregister(_ token: FCMToken, of user: UserID) throws -> Int {
    try connection.count(FCMSQL.remove, token, user)
  }

  func fcmRegistrations(of users: [UserID]) throws -> [UserID: [FCMRegistration]] {
    let rows = try connection.rows(FCMSQL.ofUsers, users, read: FCMRegistration.init(row:))
    return Dictionary(grouping: rows, by: \.userID)
  }

  func fcmRegistrations(_ tokens: [FCMToken]) throws -> [FCMToken: FCMRegistration] {
    let rows = try connection.rows(FCMSQL.some, tokens, read: FCMRegistration.init(row:))
    return Dictionary(uniqueKeysWithValues: rows.map { ($0.token, $0) })
  }

  func prune(
    _ token: FCMToken, because reason: String, unlessRegisteredAfter moment: UnixTime,
    at now: UnixTime
  ) throws -> Bool {
    try connection.count(FCMSQL.prune, token, moment, now, reason) > 0
  }

  func restore(_ tokens: [FCMToken], prunedBecause reason: String) throws -> Int {
    try connection.count(FCMSQL.restore, tokens, reason)
  }

  func deliveredRev(of context: ContextKey, to token: FCMToken) throws -> Int? {
    try connection.first(FCMSQL.delivered, context, token) { try $0.next() }
  }

  func raiseDeliveredRev(of context: ContextKey, to token: FCMToken, rev: Int, at moment: UnixTime)
    throws -> Int
  {
    try connection.first(FCMSQL.raise, context, token, rev, moment) { try $0.next() } ?? rev
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
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (token) DO UPDATE SET user_id = excluded.user_id, device_id = excluded.device_id,
      package = excluded.package, registered_at_ms = excluded.registered_at_ms,
      pruned_at_ms = NULL, pruned_because = NULL
    """
  case replace = """
    DELETE FROM fcm_tokens
    WHERE user_id = $1 AND device_id = $2 AND package IS NOT DISTINCT FROM $3 AND token <> $4
    """
  case remove = "DELETE FROM fcm_tokens WHERE token = $1 AND user_id = $2"
  case ofUsers = """
    SELECT user_id, token, device_id, package, registered_at_ms FROM fcm_tokens
    WHERE user_id = ANY($1) AND pruned_at_ms IS NULL ORDER BY registered_at_ms, token
    """
  case some = """
    SELECT user_id, token, device_id, package, registered_at_ms FROM fcm_tokens
    WHERE token = ANY($1) AND pruned_at_ms IS NULL
    """
  case prune = """
    UPDATE fcm_tokens SET pruned_at_ms = $3, pruned_because = $4
    WHERE token = $1 AND pruned_at_ms IS NULL AND registered_at_ms <= $2
    """
  case pruneOld = """
    UPDATE fcm_tokens SET pruned_at_ms = $3, pruned_because = $2 WHERE token = ANY(ARRAY(
      SELECT token FROM fcm_tokens WHERE registered_at_ms < $1 AND pruned_at_ms IS NULL
      ORDER BY registered_at_ms LIMIT $4))
    """
  case listed = """
    SELECT id, user_id, token, device_id, package, registered_at_ms, pruned_at_ms, pruned_because
    FROM fcm_tokens
    WHERE ($1::text IS NULL OR user_id = $1) AND id > $2
      AND ($3::boolean IS NULL OR (pruned_at_ms IS NOT NULL) = $3)
      AND ($4::text IS NULL OR pruned_because = $4)
      AND ($5::bigint IS NULL OR pruned_at_ms >= $5)
    ORDER BY id LIMIT $6
    """
  case listedOfUser = """
    SELECT id, user_id, token, device_id, package, registered_at_ms, pruned_at_ms, pruned_because
    FROM fcm_tokens
    WHERE user_id = $1 AND id > $2
      AND ($3::boolean IS NULL OR (pruned_at_ms IS NOT NULL) = $3)
      AND ($4::text IS NULL OR pruned_because = $4)
      AND ($5::bigint IS NULL OR pruned_at_ms >= $5)
    ORDER BY id LIMIT $6
    """
  case restore = """
    UPDATE fcm_tokens SET pruned_at_ms = NULL, pruned_because = NULL
    WHERE token = ANY($1) AND pruned_at_ms IS NOT NULL AND pruned_because = $2
    """
  case delivered = "SELECT rev FROM fcm_delivered WHERE context_key = $1 AND token = $2"
  case raise = """
    INSERT INTO fcm_delivered AS known (context_key, token, rev, delivered_at_ms)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (context_key, token) DO UPDATE SET
      rev = greatest(known.rev, excluded.rev), delivered_at_ms = excluded.delivered_at_ms
    RETURNING rev
    """
  case forget = "DELETE FROM fcm_delivered WHERE context_key = $1 AND token = $2"
  case removePruned = """
    DELETE FROM fcm_tokens WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM fcm_tokens WHERE pruned_at_ms < $1 ORDER BY pruned_at_ms LIMIT $2))
    """
  case removeDelivered = """
    DELETE FROM fcm_delivered WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM fcm_delivered WHERE delivered_at_ms < $1
      ORDER BY delivered_at_ms LIMIT $2))
    """
}
