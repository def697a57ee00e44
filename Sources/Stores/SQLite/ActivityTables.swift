import Foundation
import Pipeline
import Vocabulary

extension SQLiteTransaction {
  func activityStates(_ contexts: [ContextKey]) throws -> [ContextKey: ActivityState] {
    let statement = try connection.prepared(ActivitySQL.one)
    var found: [ContextKey: ActivityState] = [:]
    for context in contexts {
      try statement.each(context) { found[context] = try readActivityState(&$0) }
    }
    return found
  }

  func liveActivityStates(of user: UserID) throws -> [ActivityState] {
    try connection.rows(ActivitySQL.live, user, read: readActivityState)
  }

  func save(_ states: [ActivityState]) throws {
    let statement = try connection.prepared(ActivitySQL.save)
    for state in states {
      try statement.run(
        state.contextKey, state.sessionID, state.userID, state.rev, state.event,
        JSONText(data: state.contentState), state.attributesType,
        state.attributes.map(JSONText.init), state.alertTitle, state.alertBody, state.staleAt,
        state.dismissAt, state.deadline, state.causedAt, state.traceparent,
        state.extras.map { JSONText(data: JSON.encoded($0)) })
    }
  }

  func save(_ report: PhoneReport) throws {
    try connection.run(
      ActivitySQL.saveReport, report.contextKey, report.userID, report.state, report.rev,
      report.reportedAt)
    try saveInHistory(report)
  }

  func dismissed(among contexts: [ContextKey]) throws -> Set<ContextKey> {
    var found: Set<ContextKey> = []
    for context in contexts {
      let key: ContextKey? = try connection.first(ActivitySQL.dismissed, context) {
        try $0.next()
      }
      if let key { found.insert(key) }
    }
    return found
  }
}

private func readActivityState(_ row: inout Row) throws -> ActivityState {
  ActivityState(
    contextKey: try row.next(), sessionID: try row.next(), userID: try row.next(),
    rev: try row.next(), event: try row.next(),
    contentState: (try row.next() as JSONText).data, attributesType: try row.next(),
    attributes: (try row.next() as JSONText?)?.data, alertTitle: try row.next(),
    alertBody: try row.next(), staleAt: try row.next(), dismissAt: try row.next(),
    deadline: try row.next(), causedAt: try row.next(), traceparent: try row.next(),
    extras: try (row.next() as JSONText?).map { try readExtras($0.data) })
}

private func readExtras(_ json: Data) throws -> ActivityState.Extras {
  do {
    return try JSON.decode(ActivityState.Extras.self, from: json)
  } catch {
    throw StoreError("the database is damaged: extras of a state do not decode: \(error)")
  }
}

enum ActivitySQL: String, SQLText {
  case one = """
    SELECT context_key, session_id, user_id, rev, event, content_state, attributes_type,
      attributes, alert_title, alert_body, stale_at_ms, dismiss_at_ms, deadline_ms, caused_at_ms,
      traceparent, extras
    FROM activity_state WHERE context_key = ?
    """
  case live = """
    SELECT context_key, session_id, user_id, rev, event, content_state, attributes_type,
      attributes, alert_title, alert_body, stale_at_ms, dismiss_at_ms, deadline_ms, caused_at_ms,
      traceparent, extras
    FROM activity_state WHERE user_id = ? AND event = 'update'
    ORDER BY caused_at_ms, context_key
    """
  case save = """
    INSERT OR REPLACE INTO activity_state (context_key, session_id, user_id, rev, event,
      content_state, attributes_type, attributes, alert_title, alert_body, stale_at_ms,
      dismiss_at_ms, deadline_ms, caused_at_ms, traceparent, extras)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  /// Dismissed is for good: a report that was under way when it happened takes nothing back.
  case saveReport = """
    INSERT INTO activity_reports (context_key, user_id, state, rev, reported_at_ms)
    VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (context_key) DO UPDATE SET
      user_id = excluded.user_id,
      state = CASE WHEN state = 'dismissed' OR (state = 'ended' AND excluded.state = 'gone')
        THEN state ELSE excluded.state END,
      rev = ifnull(excluded.rev, rev), reported_at_ms = excluded.reported_at_ms
    """
  case dismissed = """
    SELECT context_key FROM activity_reports WHERE context_key = ? AND state = 'dismissed'
    """
}
