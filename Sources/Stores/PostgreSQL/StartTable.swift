import Pipeline
import Pushes
import Vocabulary

extension PostgreSQLTransaction {
  func starts(of sessions: [SessionID]) throws -> [Start] {
    guard !sessions.isEmpty else { return [] }
    return try connection.rows(StartSQL.ofSessions, sessions, read: Start.init(row:))
  }

  func save(_ start: Start) throws {
    try connection.run(StartSQL.save, start)
  }

  func start(of session: SessionID, token: PushToken) throws -> Start? {
    try connection.first(StartSQL.one, session, token, read: Start.init(row:))
  }

  func claimStart(of session: SessionID, token: PushToken, until: UnixTime?) throws {
    try connection.run(StartSQL.claim, session, token, until)
  }

  func uncountCard(of session: SessionID, token: PushToken) throws {
    try connection.run(StartSQL.uncount, session, token)
  }

  func startsSent(to user: UserID, on device: String?, since moment: UnixTime) throws -> [Start] {
    try connection.rows(StartSQL.sent, user, moment, device, read: Start.init(row:))
  }

  func acceptStart(of session: SessionID, token: PushToken, at moment: UnixTime) throws {
    try connection.run(StartSQL.accept, session, token, moment)
  }
}

enum StartSQL: String, SQLText {
  case ofSessions = """
    SELECT session_id, token, context_key, first_asked_at_ms, user_id, device_id,
      cards_max, claimed_until_ms, accepted_at_ms
    FROM la_starts WHERE session_id = ANY($1)
    ORDER BY array_position($1::text[], session_id), first_asked_at_ms, token
    """
  case one = """
    SELECT session_id, token, context_key, first_asked_at_ms, user_id, device_id,
      cards_max, claimed_until_ms, accepted_at_ms
    FROM la_starts WHERE session_id = $1 AND token = $2
    """
  case save = """
    INSERT INTO la_starts
      (session_id, token, context_key, first_asked_at_ms, user_id, device_id, cards_max,
       claimed_until_ms, accepted_at_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (session_id, token) DO NOTHING
    """
  case sent = """
    SELECT session_id, token, context_key, first_asked_at_ms, user_id, device_id,
      cards_max, claimed_until_ms, accepted_at_ms
    FROM la_starts
    WHERE user_id = $1 AND first_asked_at_ms >= $2 AND device_id IS NOT DISTINCT FROM $3
      AND cards_max > 0
    ORDER BY first_asked_at_ms, session_id, token
    """
  case claim = """
    UPDATE la_starts SET claimed_until_ms = $3,
      cards_max = cards_max + CASE WHEN $3::bigint IS NULL THEN 0 ELSE 1 END
    WHERE session_id = $1 AND token = $2
    """
  case uncount = """
    UPDATE la_starts SET cards_max = greatest(0, cards_max - 1)
    WHERE session_id = $1 AND token = $2
    """
  case accept = """
    UPDATE la_starts SET accepted_at_ms = $3
    WHERE session_id = $1 AND token = $2 AND accepted_at_ms IS NULL
    """
}
