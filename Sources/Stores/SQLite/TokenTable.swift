import Pipeline
import Pushes
import Vocabulary

extension SQLiteTransaction {
  func unregister(_ token: PushToken, of user: UserID, kind: TokenKind?, attributesType: String?)
    throws -> Int
  {
    try connection.count(TokenSQL.unregister, token, user, kind, attributesType)
  }

  func updateTokens(of contexts: [ContextKey]) throws -> [ContextKey: [Registration]] {
    try found(contexts) {
      try connection.rows(TokenSQL.ofContext, $0, read: Registration.init(row:))
    }
  }

  func tokens(of users: [UserID], kind: TokenKind) throws -> [UserID: [Registration]] {
    try found(users) {
      try connection.rows(TokenSQL.ofUser, $0, kind, read: Registration.init(row:))
    }
  }

  func registrations(of tokens: [PushToken]) throws -> [PushToken: [Registration]] {
    try found(tokens) { try connection.rows(TokenSQL.ofToken, $0, read: Registration.init(row:)) }
  }

  /// One prepared statement per key is faster than one over `json_each`, which has to write and
  /// read JSON. Keys without rows are left out.
  private func found<Key: Hashable>(_ keys: [Key], _ rows: (Key) throws -> [Registration])
    rethrows -> [Key: [Registration]]
  {
    var found: [Key: [Registration]] = [:]
    for key in keys where found[key] == nil {
      let elements = try rows(key)
      if !elements.isEmpty { found[key] = elements.inOrder }
    }
    return found
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
    try tokens.reduce(0) { try $0 + connection.count(TokenSQL.restore, $1, reason) }
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
  /// The oldest first. Sorted here: a key hardly ever has two rows, and to sort one SQLite makes a
  /// table, which costs as much as finding it.
  var inOrder: [Registration] {
    count < 2 ? self : sorted { $0.isBefore($1) }
  }
}

extension Registration {
  fileprivate func isBefore(_ other: Registration) -> Bool {
    (registeredAt, token.hex, kind.rawValue, attributesType ?? "")
      < (other.registeredAt, other.token.hex, other.kind.rawValue, other.attributesType ?? "")
  }
}

enum TokenSQL: String, SQLText {
  case takeFromOthers = "DELETE FROM tokens WHERE token = ?1 AND user_id <> ?2"
  /// Same card: by activity id when both rows have one, else by context key; a start that went out
  /// twice made two cards of one context. An update token that names neither replaces nothing.
  case removeReplaced = """
    DELETE FROM tokens
    WHERE user_id = ?1 AND kind = ?2 AND device_id = ?3
      AND bundle_id IS ?4 AND attributes_type IS ?5 AND token <> ?6
      AND (kind <> 'la-update' OR CASE
        WHEN activity_id IS NOT NULL AND ?8 IS NOT NULL THEN activity_id = ?8
        ELSE context_key = ?7 END)
    RETURNING context_key, activity_id
    """
  /// What the phone left out this time stays as it was. In another environment it is unproven, and
  /// for another activity nothing was delivered.
  case register = """
    INSERT INTO tokens (token, user_id, kind, context_key, activity_id, attributes_type,
      environment, bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (token, user_id, kind, ifnull(attributes_type, '')) DO UPDATE SET
      context_key = ifnull(excluded.context_key, context_key),
      activity_id = ifnull(excluded.activity_id, activity_id),
      environment = excluded.environment,
      bundle_id = ifnull(excluded.bundle_id, bundle_id),
      device_id = ifnull(excluded.device_id, device_id),
      frequent_pushes_enabled = ifnull(excluded.frequent_pushes_enabled, frequent_pushes_enabled),
      registered_at_ms = max(excluded.registered_at_ms, registered_at_ms),
      proven_at_ms = CASE WHEN excluded.environment = environment
        THEN ifnull(proven_at_ms, excluded.proven_at_ms) ELSE excluded.proven_at_ms END,
      delivered_rev = CASE WHEN ifnull(excluded.context_key, context_key) IS context_key
        THEN delivered_rev END,
      pruned_at_ms = NULL, pruned_because = NULL
    """
  case unregister = """
    DELETE FROM tokens
    WHERE token = ?1 AND user_id = ?2
      AND (?3 IS NULL OR kind = ?3) AND (?4 IS NULL OR attributes_type = ?4)
    """
  /// The plus keeps SQLite from searching by kind, which would walk through every active token.
  case ofContext = """
    SELECT token, user_id, kind, context_key, activity_id, attributes_type, environment,
      bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms
    FROM tokens WHERE context_key = ? AND +kind = 'la-update' AND pruned_at_ms IS NULL
    """
  case ofUser = """
    SELECT token, user_id, kind, context_key, activity_id, attributes_type, environment,
      bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms
    FROM tokens WHERE user_id = ? AND kind = ? AND pruned_at_ms IS NULL
    """
  case ofToken = """
    SELECT token, user_id, kind, context_key, activity_id, attributes_type, environment,
      bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms
    FROM tokens WHERE token = ? AND pruned_at_ms IS NULL
    """
  case markProven = """
    UPDATE tokens SET proven_at_ms = ?2 WHERE token = ?1 AND proven_at_ms IS NULL
    """
  case prune = """
    UPDATE tokens SET pruned_at_ms = ?3, pruned_because = ?2
    WHERE token = ?1 AND pruned_at_ms IS NULL AND registered_at_ms <= ?3
    """
  case restore = """
    UPDATE tokens SET pruned_at_ms = NULL, pruned_because = NULL
    WHERE token = ?1 AND pruned_at_ms IS NOT NULL AND pruned_because = ?2
    """
  /// Proven in one of Apple's services says nothing about the other.
  case move = """
    UPDATE tokens SET environment = ?2, proven_at_ms = NULL
    WHERE token = ?1 AND environment <> ?2
    """
  case removePruned = """
    DELETE FROM tokens WHERE rowid IN (
      SELECT rowid FROM tokens WHERE pruned_at_ms < ?1 ORDER BY pruned_at_ms LIMIT ?2)
    """
  case contextOfActivity = """
    SELECT context_key FROM tokens
    WHERE user_id = ? AND activity_id = ? AND context_key IS NOT NULL
    ORDER BY registered_at_ms DESC, token LIMIT 1
    """
  case forgetDeliveredRev = "UPDATE tokens SET delivered_rev = NULL WHERE token = ?"
}
