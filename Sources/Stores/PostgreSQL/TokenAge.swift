import Pipeline
import Pushes
import Vocabulary

extension PostgreSQLTransaction {
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
    let isHeardOf = try connection.first(TokenAgeSQL.signOfPhone, start.contextKey) {
      try $0.next() as Bool
    }
    return isHeardOf == true ? nil : start
  }
}

enum TokenAgeSQL: String, SQLText {
  case pruneOld = """
    UPDATE tokens SET pruned_at_ms = $4, pruned_because = $3 WHERE id = ANY(ARRAY(
      SELECT id FROM tokens
      WHERE kind = $1 AND registered_at_ms < $2 AND pruned_at_ms IS NULL
      ORDER BY registered_at_ms LIMIT $5))
    """
  case newestAccepted = """
    SELECT session_id, token, context_key, first_asked_at_ms, user_id, device_id,
      cards_max, claimed_until_ms, accepted_at_ms
    FROM la_starts WHERE token = $1 AND accepted_at_ms IS NOT NULL
    ORDER BY accepted_at_ms DESC LIMIT 1
    """
  case signOfPhone = """
    SELECT EXISTS (SELECT 1 FROM tokens WHERE context_key = $1)
      OR EXISTS (SELECT 1 FROM activity_reports WHERE context_key = $1)
    """
}
