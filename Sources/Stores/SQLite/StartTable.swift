import Pipeline
import Pushes
import Vocabulary

extension SQLiteTransaction {
  func starts(of sessions: [SessionID]) throws -> [Start] {
    var seen: Set<SessionID> = []
    return try sessions.filter { seen.insert($0).inserted }.flatMap {
      try connection.rows(StartSQL.ofSession, $0, read: Start.init(row:))
    }
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
  case ofSession = """
    SELECT session_id, token, context_key, first_asked_at_ms, user_id, device_id,
      cards_max, claimed_until_ms, accepted_at_ms
    FROM la_starts WHERE session_id = ? ORDER BY first_asked_at_ms, token
    """
  case one = """
    SELECT session_id, token, context_key, first_asked_at_ms, user_id, device_id,
      cards_max, claimed_until_ms, accepted_at_ms
    FROM la_starts WHERE session_id = ? AND token = ?
    """
  case save = """
    INSERT INTO la_starts
      (session_id, token, context_key, first_asked_at_ms, user_id, device_id, cards_max,
       claimed_until_ms, accepted_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (session_id, token) DO NOTHING
    """
  case sent = """
    SELECT session_id, token, context_key, first_asked_at_ms, user_id, device_id,
      cards_max, claimed_until_ms, accepted_at_ms
    FROM la_starts
    WHERE user_id = ?1 AND first_asked_at_ms >= ?2 AND device_id IS ?3
      AND cards_max > 0
    ORDER BY first_asked_at_ms, session_id, token
    """
  case claim = """
    UPDATE la_starts SET claimed_until_ms = ?3, cards_max = cards_max + (?3 IS NOT NULL)
    WHERE session_id = ?1 AND token = ?2
    """
  case uncount = """
    UPDATE la_starts SET cards_max = max(0, cards_max - 1) WHERE session_id = ?1 AND token = ?2
    """
  case accept = """
    UPDATE la_starts SET accepted_at_ms = ?3
    WHERE session_id = ?1 AND token = ?2 AND accepted_at_ms IS NULL
    """
}
