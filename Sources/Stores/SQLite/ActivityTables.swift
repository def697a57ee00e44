import Pipeline
import Vocabulary

extension SQLiteTransaction {
  func activityStates(_ contexts: [ContextKey]) throws -> [ContextKey: ActivityState] {
    let statement = try connection.prepared(ActivitySQL.one)
    var found: [ContextKey: ActivityState] = [:]
    for context in contexts {
      try statement.each(context) { found[context] = try ActivityState(row: &$0) }
    }
    return found
  }

  func liveActivityStates(of user: UserID) throws -> [ActivityState] {
    try connection.rows(ActivitySQL.live, user, read: ActivityState.init(row:))
  }

  func save(_ states: [ActivityState]) throws {
    let (update, replace) = (
      try connection.prepared(ActivitySQL.update), try connection.prepared(ActivitySQL.replace)
    )
    for state in states where try update.run(state) == 0 { try replace.run(state) }
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
  /// Inserts, or changes the row where it is: no index has to follow, which is most of the work of
  /// replacing it. Changes nothing when the card's event or owner is another: an index tells of
  /// them.
  case update = """
    INSERT INTO activity_state (context_key, session_id, user_id, rev, event,
      content_state, attributes_type, attributes, alert_title, alert_body, stale_at_ms,
      dismiss_at_ms, deadline_ms, caused_at_ms, traceparent, extras)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (context_key) DO UPDATE SET
      rev = excluded.rev, content_state = excluded.content_state,
      attributes_type = excluded.attributes_type, attributes = excluded.attributes,
      alert_title = excluded.alert_title, alert_body = excluded.alert_body,
      stale_at_ms = excluded.stale_at_ms, dismiss_at_ms = excluded.dismiss_at_ms,
      deadline_ms = excluded.deadline_ms, caused_at_ms = excluded.caused_at_ms,
      traceparent = excluded.traceparent, extras = excluded.extras
    WHERE event = excluded.event AND user_id = excluded.user_id
      AND session_id = excluded.session_id
    """
  case replace = """
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
