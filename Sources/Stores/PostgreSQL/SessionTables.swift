import Pipeline
import Sessions
import Vocabulary

extension PostgreSQLTransaction {
  func session(_ id: SessionID) throws -> Session? {
    try connection.first(SessionSQL.one, id, read: Session.init(row:))
  }

  func saveParticipants(of session: Session) throws {
    try connection.run(SessionSQL.saveParticipants, columnsOf: session.participantRows)
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
    try connection.first(SessionSQL.earliestDue) { (try $0.next(), try $0.next()) } ?? (nil, nil)
  }
}

enum SessionSQL: String, SQLText {
  case one = "SELECT json FROM sessions WHERE id = $1"
  case save = """
    INSERT INTO sessions (id, json, state, rev, is_live, expires_at_ms, in_kitchen_since_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (id) DO UPDATE SET
      json = excluded.json, state = excluded.state, rev = excluded.rev,
      is_live = excluded.is_live, expires_at_ms = excluded.expires_at_ms,
      in_kitchen_since_ms = excluded.in_kitchen_since_ms
    """
  case replace = """
    UPDATE sessions SET json = $2, state = $3, rev = $4, is_live = $5, expires_at_ms = $6,
      in_kitchen_since_ms = $7
    WHERE id = $1 AND state = $8 AND rev = $9 AND expires_at_ms = $10
    """
  case saveParticipants = """
    INSERT INTO participants (session_id, user_id, status, is_live)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[])
    ON CONFLICT (session_id, user_id) DO UPDATE SET
      status = excluded.status, is_live = excluded.is_live
    """
  case removeOtherParticipants = """
    DELETE FROM participants WHERE session_id = $1 AND user_id <> ALL($2)
    """
  case liveCount = "SELECT count(*) FROM participants WHERE user_id = $1 AND is_live"
  case expired = """
    SELECT json FROM sessions WHERE is_live AND expires_at_ms <= $1
    ORDER BY expires_at_ms LIMIT $2
    """
  case inKitchen = """
    SELECT json FROM sessions WHERE in_kitchen_since_ms <= $1
    ORDER BY in_kitchen_since_ms LIMIT $2
    """
  case earliestDue = """
    SELECT (SELECT min(expires_at_ms) FROM sessions WHERE is_live),
      (SELECT min(in_kitchen_since_ms) FROM sessions WHERE in_kitchen_since_ms IS NOT NULL)
    """
  case saveAnswers = """
    INSERT INTO answers (session_id, user_id, json) VALUES ($1, $2, $3)
    ON CONFLICT (session_id, user_id) DO UPDATE SET json = excluded.json
    """
  case answers = "SELECT user_id, json FROM answers WHERE session_id = $1"
}
