import Foundation
import Pipeline
import Sessions
import Vocabulary

extension SQLiteTransaction {
  func session(_ id: SessionID) throws -> Session? {
    try connection.first(SessionSQL.one, id, read: readSession)
  }

  func save(_ session: Session) throws {
    let isLive = !session.state.isFinal
    try connection.run(
      SessionSQL.save, session.id, JSONText(data: JSON.encoded(session)), session.state,
      session.rev, isLive, session.expiresAt)
    for participant in session.participants {
      try connection.run(
        SessionSQL.saveParticipant, session.id, participant.userID, participant.status,
        isLive && participant.isPresent)
    }
    let users = JSON.encoded(session.participants.map(\.userID))
    try connection.run(SessionSQL.removeOtherParticipants, session.id, JSONText(data: users))
  }

  func liveSessionCount(of user: UserID) throws -> Int {
    try connection.first(SessionSQL.liveCount, user) { try $0.next() } ?? 0
  }

  func expiredSessions(at moment: UnixTime, limit: Int) throws -> [Session] {
    try connection.rows(SessionSQL.expired, moment, limit, read: readSession)
  }

  func saveAnswers(_ json: Data, of user: UserID, in session: SessionID) throws {
    try connection.run(SessionSQL.saveAnswers, session, user, JSONText(data: json))
  }

  func answers(in session: SessionID) throws -> [UserID: Data] {
    let rows = try connection.rows(SessionSQL.answers, session) { row in
      (user: try row.next() as UserID, json: try row.next() as JSONText)
    }
    return Dictionary(uniqueKeysWithValues: rows.map { ($0.user, $0.json.data) })
  }
}

private func readSession(_ row: inout Row) throws -> Session {
  let text: JSONText = try row.next()
  do {
    return try JSON.decode(Session.self, from: text.data)
  } catch {
    throw StoreError("the database is damaged: a stored session does not decode: \(error)")
  }
}

enum SessionSQL: String, SQLText {
  case one = "SELECT json FROM sessions WHERE id = ?"
  case save = """
    INSERT INTO sessions (id, json, state, rev, is_live, expires_at_ms)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
      json = excluded.json, state = excluded.state, rev = excluded.rev,
      is_live = excluded.is_live, expires_at_ms = excluded.expires_at_ms
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
  case saveAnswers = """
    INSERT INTO answers (session_id, user_id, json) VALUES (?, ?, ?)
    ON CONFLICT (session_id, user_id) DO UPDATE SET json = excluded.json
    """
  case answers = "SELECT user_id, json FROM answers WHERE session_id = ?"
}
