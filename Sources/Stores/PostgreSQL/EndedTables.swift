import Activities
import Pipeline
import Sessions
import Vocabulary

extension PostgreSQLTransaction {
  func removeEnded(expiredBefore moment: UnixTime, limit: Int) throws -> Int {
    let sessions: [SessionID] = try connection.rows(EndedSQL.sessions, moment, limit) {
      try $0.next()
    }
    let activities: [ActivityKey] = try connection.rows(EndedSQL.activities, moment, limit) {
      try $0.next()
    }
    let all = sessions + activities.map(Activity.sessionID)
    guard !all.isEmpty else { return 0 }
    for removal in [EndedSQL.removeReports, .removeStates, .removeStarts, .removeAnswers] {
      try connection.run(removal, all)
    }
    try connection.run(EndedSQL.removeSessions, sessions)
    try connection.run(EndedSQL.removeActivities, activities)
    return all.count
  }

  func removeNotifications(createdBefore moment: UnixTime, limit: Int) throws -> Int {
    try connection.count(EndedSQL.removeNotifications, moment, limit)
  }
}

enum EndedSQL: String, SQLText {
  case sessions = """
    SELECT id FROM sessions WHERE NOT is_live AND expires_at_ms < $1
    ORDER BY expires_at_ms LIMIT $2
    """
  case activities = """
    SELECT activity_key FROM activities WHERE state = 'ended' AND expires_at_ms < $1
    ORDER BY expires_at_ms LIMIT $2
    """
  case removeReports = """
    DELETE FROM activity_reports WHERE context_key = ANY(ARRAY(
      SELECT context_key FROM activity_state WHERE session_id = ANY($1)))
    """
  case removeStates = "DELETE FROM activity_state WHERE session_id = ANY($1)"
  case removeStarts = "DELETE FROM la_starts WHERE session_id = ANY($1)"
  case removeAnswers = "DELETE FROM answers WHERE session_id = ANY($1)"
  // Participants and recipients go with them.
  case removeSessions = "DELETE FROM sessions WHERE id = ANY($1)"
  case removeActivities = "DELETE FROM activities WHERE activity_key = ANY($1)"
  case removeNotifications = """
    DELETE FROM notifications WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM notifications WHERE created_at_ms < $1 ORDER BY created_at_ms LIMIT $2))
    """
}
