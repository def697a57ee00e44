import Pipeline
import Pushes
import Vocabulary

extension SQLiteTransaction {
  func starts(of sessions: [SessionID]) throws -> [Start] {
    var seen: Set<SessionID> = []
    return try sessions.filter { seen.insert($0).inserted }.flatMap {
      try connection.rows(StartSQL.ofSession, $0, read: readStart)
    }
  }

  func save(_ start: Start) throws {
    try connection.run(
      StartSQL.save, start.sessionID, start.token, start.contextKey, start.firstAskedAt,
      start.claimedUntil, start.acceptedAt)
  }

  func start(of session: SessionID, token: PushToken) throws -> Start? {
    try connection.first(StartSQL.one, session, token, read: readStart)
  }

  func claimStart(of session: SessionID, token: PushToken, until: UnixTime?) throws {
    try connection.run(StartSQL.claim, session, token, until)
  }

  func acceptStart(of session: SessionID, token: PushToken, at moment: UnixTime) throws {
    try connection.run(StartSQL.accept, session, token, moment)
  }
}

func readStart(_ row: inout Row) throws -> Start {
  Start(
    sessionID: try row.next(), token: try row.next(), contextKey: try row.next(),
    firstAskedAt: try row.next(), claimedUntil: try row.next(), acceptedAt: try row.next())
}

enum StartSQL: String, SQLText {
  case ofSession = """
    SELECT session_id, token, context_key, first_asked_at_ms, claimed_until_ms, accepted_at_ms
    FROM la_starts WHERE session_id = ? ORDER BY first_asked_at_ms, token
    """
  case one = """
    SELECT session_id, token, context_key, first_asked_at_ms, claimed_until_ms, accepted_at_ms
    FROM la_starts WHERE session_id = ? AND token = ?
    """
  case save = """
    INSERT INTO la_starts
      (session_id, token, context_key, first_asked_at_ms, claimed_until_ms, accepted_at_ms)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (session_id, token) DO NOTHING
    """
  case claim = """
    UPDATE la_starts SET claimed_until_ms = ?3 WHERE session_id = ?1 AND token = ?2
    """
  case accept = """
    UPDATE la_starts SET accepted_at_ms = ?3
    WHERE session_id = ?1 AND token = ?2 AND accepted_at_ms IS NULL
    """
}
