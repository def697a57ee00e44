import Pipeline
import Vocabulary

extension PostgreSQLTransaction {
  func activityStates(_ contexts: [ContextKey]) throws -> [ContextKey: ActivityState] {
    guard !contexts.isEmpty else { return [:] }
    let states = try connection.rows(ActivitySQL.some, contexts, read: ActivityState.init(row:))
    return Dictionary(uniqueKeysWithValues: states.map { ($0.contextKey, $0) })
  }

  func liveActivityStates(of user: UserID) throws -> [ActivityState] {
    try connection.rows(ActivitySQL.live, user, read: ActivityState.init(row:))
  }

  func save(_ states: [ActivityState]) throws {
    // One statement may change a row once: of two states of one card the later counts.
    let last = Dictionary(states.map { ($0.contextKey, $0) }) { $1 }.values
    try connection.run(ActivitySQL.save, columnsOf: last)
  }

  func dismissed(among contexts: [ContextKey]) throws -> Set<ContextKey> {
    guard !contexts.isEmpty else { return [] }
    return Set(try connection.rows(ActivitySQL.dismissed, contexts) { try $0.next() })
  }
}

enum ActivitySQL: String, SQLText {
  case some = """
    SELECT context_key, session_id, user_id, rev, event, content_state, attributes_type,
      attributes, alert_title, alert_body, stale_at_ms, dismiss_at_ms, deadline_ms, caused_at_ms,
      traceparent, extras
    FROM activity_state WHERE context_key = ANY($1)
    """
  case live = """
    SELECT context_key, session_id, user_id, rev, event, content_state, attributes_type,
      attributes, alert_title, alert_body, stale_at_ms, dismiss_at_ms, deadline_ms, caused_at_ms,
      traceparent, extras
    FROM activity_state WHERE user_id = $1 AND event = 'update'
    ORDER BY caused_at_ms, context_key
    """
  case save = """
    INSERT INTO activity_state (context_key, session_id, user_id, rev, event,
      content_state, attributes_type, attributes, alert_title, alert_body, stale_at_ms,
      dismiss_at_ms, deadline_ms, caused_at_ms, traceparent, extras)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[],
      $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::bigint[],
      $12::bigint[], $13::bigint[], $14::bigint[], $15::text[], $16::text[])
    ON CONFLICT (context_key) DO UPDATE SET
      session_id = excluded.session_id, user_id = excluded.user_id, rev = excluded.rev,
      event = excluded.event, content_state = excluded.content_state,
      attributes_type = excluded.attributes_type, attributes = excluded.attributes,
      alert_title = excluded.alert_title, alert_body = excluded.alert_body,
      stale_at_ms = excluded.stale_at_ms, dismiss_at_ms = excluded.dismiss_at_ms,
      deadline_ms = excluded.deadline_ms, caused_at_ms = excluded.caused_at_ms,
      traceparent = excluded.traceparent, extras = excluded.extras
    """
  /// Dismissed is for good: a report that was under way when it happened takes nothing back.
  case saveReport = """
    INSERT INTO activity_reports AS known (context_key, user_id, state, rev, reported_at_ms)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (context_key) DO UPDATE SET
      user_id = excluded.user_id,
      state = CASE
        WHEN known.state = 'dismissed' OR (known.state = 'ended' AND excluded.state = 'gone')
        THEN known.state ELSE excluded.state END,
      rev = coalesce(excluded.rev, known.rev), reported_at_ms = excluded.reported_at_ms
    """
  case dismissed = """
    SELECT context_key FROM activity_reports
    WHERE context_key = ANY($1) AND state = 'dismissed'
    """
}
