import Activities
import Pipeline
import Sessions
import Vocabulary

extension Migrations {
  /// Step 9: what is searched for to remove what is over.
  static let endedIndexes = """
    CREATE INDEX sessions_ended ON sessions (expires_at_ms) WHERE is_live = 0;
    CREATE INDEX activities_ended ON activities (expires_at_ms) WHERE state = 'ended';
    CREATE INDEX activity_state_by_session ON activity_state (session_id);
    CREATE INDEX notifications_by_age ON notifications (created_at_ms);

    PRAGMA user_version = 9;
    """
}

extension SQLiteTransaction {
  func removeEnded(expiredBefore moment: UnixTime, limit: Int) throws -> Int {
    let sessions: [SessionID] = try connection.rows(EndedSQL.sessions, moment, limit) {
      try $0.next()
    }
    let activities: [ActivityKey] = try connection.rows(EndedSQL.activities, moment, limit) {
      try $0.next()
    }
    for session in sessions + activities.map(Activity.sessionID) {
      try connection.run(EndedSQL.removeReports, session)
      try connection.run(EndedSQL.removeStates, session)
      try connection.run(EndedSQL.removeStarts, session)
      try connection.run(EndedSQL.removeAnswers, session)
    }
    for session in sessions { try connection.run(EndedSQL.removeSession, session) }
    for activity in activities { try connection.run(EndedSQL.removeActivity, activity) }
    return sessions.count + activities.count
  }

  func removeNotifications(createdBefore moment: UnixTime, limit: Int) throws -> Int {
    try connection.count(EndedSQL.removeNotifications, moment, limit)
  }
}

enum EndedSQL: String, SQLText {
  case sessions = """
    SELECT id FROM sessions WHERE is_live = 0 AND expires_at_ms < ? ORDER BY expires_at_ms LIMIT ?
    """
  case activities = """
    SELECT activity_key FROM activities WHERE state = 'ended' AND expires_at_ms < ?
    ORDER BY expires_at_ms LIMIT ?
    """
  case removeReports = """
    DELETE FROM activity_reports WHERE context_key IN (
      SELECT context_key FROM activity_state WHERE session_id = ?)
    """
  case removeStates = "DELETE FROM activity_state WHERE session_id = ?"
  case removeStarts = "DELETE FROM la_starts WHERE session_id = ?"
  case removeAnswers = "DELETE FROM answers WHERE session_id = ?"
  // Participants and recipients go with them.
  case removeSession = "DELETE FROM sessions WHERE id = ?"
  case removeActivity = "DELETE FROM activities WHERE activity_key = ?"
  case removeNotifications = """
    DELETE FROM notifications WHERE (user_id, id) IN (
      SELECT user_id, id FROM notifications WHERE created_at_ms < ? ORDER BY created_at_ms LIMIT ?)
    """
}
