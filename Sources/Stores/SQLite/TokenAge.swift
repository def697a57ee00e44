import Pipeline
import Pushes
import Vocabulary

extension Migrations {
  /// Step 6: what the age of a token and the silence of a phone are searched by.
  static let tokenAge = """
    CREATE INDEX tokens_by_age ON tokens (kind, registered_at_ms) WHERE pruned_at_ms IS NULL;
    CREATE INDEX la_starts_by_token ON la_starts (token, accepted_at_ms)
      WHERE accepted_at_ms IS NOT NULL;

    PRAGMA user_version = 6;
    """
}

extension SQLiteTransaction {
  func prune(
    _ kind: TokenKind, registeredBefore moment: UnixTime, because reason: String, at now: UnixTime,
    limit: Int
  ) throws -> Int {
    try connection.count(TokenAgeSQL.pruneOld, kind, moment, reason, now, limit)
  }

  func unheardStart(of token: PushToken, acceptedBy moment: UnixTime) throws -> Start? {
    guard
      let start = try connection.first(TokenAgeSQL.newestAccepted, token, read: Start.init(row:)),
      let acceptedAt = start.acceptedAt, acceptedAt <= moment
    else { return nil }
    let signs: Int? = try connection.first(TokenAgeSQL.signOfPhone, start.contextKey) {
      try $0.next()
    }
    return signs == nil ? start : nil
  }
}

enum TokenAgeSQL: String, SQLText {
  case pruneOld = """
    UPDATE tokens SET pruned_at_ms = ?4, pruned_because = ?3 WHERE rowid IN (
      SELECT rowid FROM tokens
      WHERE kind = ?1 AND registered_at_ms < ?2 AND pruned_at_ms IS NULL
      ORDER BY registered_at_ms LIMIT ?5)
    """
  case newestAccepted = """
    SELECT session_id, token, context_key, first_asked_at_ms, user_id, device_id,
      cards_max, claimed_until_ms, accepted_at_ms
    FROM la_starts WHERE token = ? AND accepted_at_ms IS NOT NULL
    ORDER BY accepted_at_ms DESC LIMIT 1
    """
  case signOfPhone = """
    SELECT 1 FROM tokens WHERE context_key = ?1
    UNION ALL SELECT 1 FROM activity_reports WHERE context_key = ?1
    LIMIT 1
    """
}
