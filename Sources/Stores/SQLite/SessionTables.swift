import Pipeline
import Sessions
import Vocabulary

extension SQLiteTransaction {
  func session(_ id: SessionID) throws -> Session? {
    try connection.first(SessionSQL.one, id, read: Session.init(row:))
  }

  func saveParticipants(of session: Session) throws {
    for row in session.participantRows { try connection.run(SessionSQL.saveParticipant, row) }
  }

  func liveSessionCount(of user: UserID) throws -> Int {
    try connection.first(SessionSQL.liveCount, user) { try $0.next() } ?? 0
  }

  func expiredSessions(at moment: UnixTime, limit: Int) throws -> [Session] {
    try connection.rows(SessionSQL.expired, moment, limit, read: Session.init(row:))
  }

  func sessionsInKitchen(unchangedSince moment: UnixTime, limit: Int) throws -> [Session] {
    try connection.rows(SessionSQL.inKitchen, moment, limit, read: Session.init(row:))
  }

  func earliestDue() throws -> (expiry: UnixTime?, inKitchenSince: UnixTime?) {
    let expiry = try connection.first(SessionSQL.earliestExpiry) { try $0.next() as UnixTime? }
    let since = try connection.first(SessionSQL.longestInKitchen) { try $0.next() as UnixTime? }
    return (expiry ?? nil, since ?? nil)
  }
}

enum SessionSQL: String, SQLText {
  case one = "SELECT json FROM sessions WHERE id = ?"
  case save = """
    INSERT INTO sessions (id, json, state, rev, is_live, expires_at_ms, in_kitchen_since_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
      json = excluded.json, state = excluded.state, rev = excluded.rev,
      is_live = excluded.is_live, expires_at_ms = excluded.expires_at_ms,
      in_kitchen_since_ms = excluded.in_kitchen_since_ms
    """
  case replace = """
    UPDATE sessions SET json = ?2, state = ?3, rev = ?4, is_live = ?5, expires_at_ms = ?6,
      in_kitchen_since_ms = ?7
    WHERE id = ?1 AND state = ?8 AND rev = ?9 AND expires_at_ms = ?10
    """
  case saveParticipant = """
    INSERT INTO participants (session_id, user_id, status, is_live) VALUES (?, ?, ?, ?)
    ON CONFLICT (session_id, user_id) DO UPDATE SET
      status = excluded.status, is_live = excluded.is_live
    """
  case removeOtherParticipants = """
    DELETE FROM participants
    WHERE session_id = ? AND user_id NOT IN (SELECT value FROM json_each(?))
    """
  case liveCount = "SELECT count(*) FROM participants WHERE user_id = ? AND is_live = 1"
  case expired = """
    SELECT json FROM sessions WHERE is_live = 1 AND expires_at_ms <= ?
    ORDER BY expires_at_ms LIMIT ?
    """
  case inKitchen = """
    SELECT json FROM sessions WHERE in_kitchen_since_ms <= ?
    ORDER BY in_kitchen_since_ms LIMIT ?
    """
  case earliestExpiry = "SELECT min(expires_at_ms) FROM sessions WHERE is_live = 1"
  case longestInKitchen = """
    SELECT min(in_kitchen_since_ms) FROM sessions WHERE in_kitchen_since_ms IS NOT NULL
    """
  case saveAnswers = """
    INSERT INTO answers (session_id, user_id, json) VALUES (?, ?, ?)
    ON CONFLICT (session_id, user_id) DO UPDATE SET json = excluded.json
    """
  case answers = "SELECT user_id, json FROM answers WHERE session_id = ?"
}
