import Pipeline
import Vocabulary

extension PostgreSQLTransaction {
  func save(_ mutation: MutationRecord) throws {
    try connection.run(HistorySQL.saveMutation, mutation)
  }

  func mutations(of session: SessionID) throws -> [MutationRecord] {
    try connection.rows(HistorySQL.mutations, session, read: MutationRecord.init(row:))
  }

  func save(_ builds: [BuildRecord]) throws {
    try connection.run(HistorySQL.saveBuilds, columnsOf: builds)
  }

  func builds(of session: SessionID) throws -> [BuildRecord] {
    try connection.rows(HistorySQL.builds, session, read: BuildRecord.init(row:))
  }

  func reports(of contexts: [ContextKey]) throws -> [PhoneReport] {
    try connection.rows(HistorySQL.reports, contexts, read: PhoneReport.init(row:))
  }

  func unpublished(among events: [EventID]) throws -> Set<EventID> {
    Set(try connection.rows(HistorySQL.unpublished, events) { try $0.next() })
  }
}

enum HistorySQL: String, SQLText {
  case saveMutation = """
    INSERT INTO mutations
      (session_id, rev, mutation, user_id, event_id, event_type, accepted_at_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (session_id, rev) DO NOTHING
    """
  case mutations = """
    SELECT session_id, rev, mutation, user_id, event_id, event_type, accepted_at_ms
    FROM mutations WHERE session_id = $1 ORDER BY rev
    """
  case saveBuilds = """
    INSERT INTO builds (session_id, user_id, context_key, rev, outcome, update_jobs, start_jobs,
      fcm_jobs, reason, built_at_ms)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[],
      $6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::bigint[])
    """
  case builds = """
    SELECT session_id, user_id, context_key, rev, outcome, update_jobs, start_jobs, fcm_jobs,
      reason, built_at_ms
    FROM builds WHERE session_id = $1 ORDER BY built_at_ms, id
    """
  case saveReport = """
    INSERT INTO phone_reports (context_key, user_id, state, rev, reported_at_ms)
    VALUES ($1, $2, $3, $4, $5)
    """
  case removeReportsBeyond = """
    DELETE FROM phone_reports WHERE id = ANY(ARRAY(
      SELECT id FROM phone_reports WHERE context_key = $1 ORDER BY id DESC OFFSET $2))
    """
  case reports = """
    SELECT context_key, user_id, state, rev, reported_at_ms
    FROM phone_reports WHERE context_key = ANY($1) ORDER BY reported_at_ms, context_key, id
    """
  case unpublished = "SELECT message_id FROM outbox WHERE message_id = ANY($1)"
  case removeMutations = """
    DELETE FROM mutations WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM mutations WHERE accepted_at_ms < $1 ORDER BY accepted_at_ms LIMIT $2))
    """
  case removeBuilds = """
    DELETE FROM builds WHERE id = ANY(ARRAY(
      SELECT id FROM builds WHERE built_at_ms < $1 ORDER BY built_at_ms LIMIT $2))
    """
  case removeReports = """
    DELETE FROM phone_reports WHERE id = ANY(ARRAY(
      SELECT id FROM phone_reports WHERE reported_at_ms < $1 ORDER BY reported_at_ms LIMIT $2))
    """
}
