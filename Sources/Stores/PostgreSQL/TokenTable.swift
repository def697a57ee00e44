import Pipeline
import Pushes
import Vocabulary

extension PostgreSQLTransaction {
  func unregister(_ token: PushToken, of user: UserID, kind: TokenKind?, attributesType: String?)
    throws -> Int
  {
    try connection.count(TokenSQL.unregister, token, user, kind, attributesType)
  }

  func updateTokens(of contexts: [ContextKey]) throws -> [ContextKey: [Registration]] {
    guard !contexts.isEmpty else { return [:] }
    return try connection.rows(TokenSQL.ofContexts, contexts, read: Registration.init(row:))
      .grouped { $0.contextKey }
  }

  func tokens(of users: [UserID], kind: TokenKind) throws -> [UserID: [Registration]] {
    guard !users.isEmpty else { return [:] }
    return try connection.rows(TokenSQL.ofUsers, users, kind, read: Registration.init(row:))
      .grouped { $0.userID }
  }

  func registrations(of tokens: [PushToken]) throws -> [PushToken: [Registration]] {
    guard !tokens.isEmpty else { return [:] }
    return try connection.rows(TokenSQL.ofTokens, tokens, read: Registration.init(row:))
      .grouped { $0.token }
  }

  func markProven(_ token: PushToken, at moment: UnixTime) throws {
    try connection.run(TokenSQL.markProven, token, moment)
  }

  func prune(_ token: PushToken, because reason: String, unlessRegisteredAfter moment: UnixTime)
    throws -> Int
  {
    try connection.count(TokenSQL.prune, token, reason, moment)
  }

  func restore(_ tokens: [PushToken], prunedBecause reason: String) throws -> Int {
    try connection.count(TokenSQL.restore, tokens, reason)
  }

  func moveToken(_ token: PushToken, to environment: PushEnvironment) throws {
    try connection.run(TokenSQL.move, token, environment)
  }

  func removeRegistrations(prunedBefore moment: UnixTime, limit: Int) throws -> Int {
    try connection.count(TokenSQL.removePruned, moment, limit)
  }

  func contextKey(ofActivity activityID: String, of user: UserID) throws -> ContextKey? {
    try connection.first(TokenSQL.contextOfActivity, user, activityID) { try $0.next() }
  }

  func forgetDeliveredRev(of token: PushToken) throws {
    try connection.run(TokenSQL.forgetDeliveredRev, token)
  }
}

extension [Registration] {
  /// In the order they have.
  fileprivate func grouped<Key: Hashable>(_ key: (Registration) -> Key?) -> [Key: [Registration]] {
    reduce(into: [:]) { groups, registration in
      if let key = key(registration) { groups[key, default: []].append(registration) }
    }
  }
}

enum TokenSQL: String, SQLText {
  case takeFromOthers = "DELETE FROM tokens WHERE token = $1 AND user_id <> $2"
  /// Same card: by activity id when both rows have one, else by context key; a start that went out
  /// twice made two cards of one context. An update token that names neither replaces nothing.
  case removeReplaced = """
    DELETE FROM tokens
    WHERE user_id = $1 AND kind = $2 AND device_id = $3
      AND bundle_id IS NOT DISTINCT FROM $4 AND attributes_type IS NOT DISTINCT FROM $5
      AND token <> $6
      AND (kind <> 'la-update' OR CASE
        WHEN activity_id IS NOT NULL AND $8::text IS NOT NULL THEN activity_id = $8
        ELSE context_key = $7 END)
    RETURNING context_key, activity_id
    """
  /// What the phone left out this time stays as it was. In another environment it is unproven, and
  /// for another activity nothing was delivered.
  case register = """
    INSERT INTO tokens AS t (token, user_id, kind, context_key, activity_id, attributes_type,
      environment, bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (token, user_id, kind, (coalesce(attributes_type, ''))) DO UPDATE SET
      context_key = coalesce(excluded.context_key, t.context_key),
      activity_id = coalesce(excluded.activity_id, t.activity_id),
      environment = excluded.environment,
      bundle_id = coalesce(excluded.bundle_id, t.bundle_id),
      device_id = coalesce(excluded.device_id, t.device_id),
      frequent_pushes_enabled
        = coalesce(excluded.frequent_pushes_enabled, t.frequent_pushes_enabled),
      registered_at_ms = greatest(excluded.registered_at_ms, t.registered_at_ms),
      proven_at_ms = CASE WHEN excluded.environment = t.environment
        THEN coalesce(t.proven_at_ms, excluded.proven_at_ms) ELSE excluded.proven_at_ms END,
      delivered_rev = CASE
        WHEN coalesce(excluded.context_key, t.context_key) IS NOT DISTINCT FROM t.context_key
        THEN t.delivered_rev END,
      pruned_at_ms = NULL, pruned_because = NULL
    """
  case unregister = """
    DELETE FROM tokens
    WHERE token = $1 AND user_id = $2
      AND ($3::text IS NULL OR kind = $3) AND ($4::text IS NULL OR attributes_type = $4)
    """
  case ofContexts = """
    SELECT token, user_id, kind, context_key, activity_id, attributes_type, environment,
      bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms
    FROM tokens WHERE context_key = ANY($1) AND kind = 'la-update' AND pruned_at_ms IS NULL
    ORDER BY registered_at_ms, token, kind, coalesce(attributes_type, '')
    """
  case ofUsers = """
    SELECT token, user_id, kind, context_key, activity_id, attributes_type, environment,
      bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms
    FROM tokens WHERE user_id = ANY($1) AND kind = $2 AND pruned_at_ms IS NULL
    ORDER BY registered_at_ms, token, kind, coalesce(attributes_type, '')
    """
  case ofTokens = """
    SELECT token, user_id, kind, context_key, activity_id, attributes_type, environment,
      bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms
    FROM tokens WHERE token = ANY($1) AND pruned_at_ms IS NULL
    ORDER BY registered_at_ms, token, kind, coalesce(attributes_type, '')
    """
  case markProven = """
    UPDATE tokens SET proven_at_ms = $2 WHERE token = $1 AND proven_at_ms IS NULL
    """
  case prune = """
    UPDATE tokens SET pruned_at_ms = $3, pruned_because = $2
    WHERE token = $1 AND pruned_at_ms IS NULL AND registered_at_ms <= $3
    """
  case restore = """
    UPDATE tokens SET pruned_at_ms = NULL, pruned_because = NULL
    WHERE token = ANY($1) AND pruned_at_ms IS NOT NULL AND pruned_because = $2
    """
  /// Proven in one of Apple's services says nothing about the other.
  case move = """
    UPDATE tokens SET environment = $2, proven_at_ms = NULL
    WHERE token = $1 AND environment <> $2
    """
  case removePruned = """
    DELETE FROM tokens WHERE id = ANY(ARRAY(
      SELECT id FROM tokens WHERE pruned_at_ms < $1 ORDER BY pruned_at_ms LIMIT $2))
    """
  case contextOfActivity = """
    SELECT context_key FROM tokens
    WHERE user_id = $1 AND activity_id = $2 AND context_key IS NOT NULL
    ORDER BY registered_at_ms DESC, token LIMIT 1
    """
  case forgetDeliveredRev = "UPDATE tokens SET delivered_rev = NULL WHERE token = $1"
}
