import Pipeline
import Vocabulary

extension Migrations {
  /// Step 5: what `lockstep explain` reads besides the deliveries.
  static let historyTables = """
    CREATE TABLE mutations (
      session_id TEXT NOT NULL,
      rev INTEGER NOT NULL,
      mutation TEXT NOT NULL,
      user_id TEXT,
      event_id TEXT NOT NULL,
      event_type TEXT NOT NULL,
      accepted_at_ms INTEGER NOT NULL,
      PRIMARY KEY (session_id, rev)
    ) STRICT;
    CREATE INDEX mutations_by_age ON mutations (accepted_at_ms);

    CREATE TABLE builds (
      id INTEGER PRIMARY KEY,
      session_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      context_key TEXT NOT NULL,
      rev INTEGER NOT NULL,
      outcome TEXT NOT NULL,
      update_jobs INTEGER NOT NULL,
      start_jobs INTEGER NOT NULL,
      reason TEXT,
      built_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX builds_by_session ON builds (session_id, built_at_ms);
    CREATE INDEX builds_by_age ON builds (built_at_ms);

    CREATE TABLE phone_reports (
      id INTEGER PRIMARY KEY,
      context_key TEXT NOT NULL,
      user_id TEXT NOT NULL,
      state TEXT NOT NULL,
      rev INTEGER,
      reported_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX phone_reports_by_context ON phone_reports (context_key);
    CREATE INDEX phone_reports_by_age ON phone_reports (reported_at_ms);

    -- was_sent 0: the sender decided not to send, and reason says why.
    ALTER TABLE deliveries ADD COLUMN was_sent INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE deliveries ADD COLUMN consequence TEXT;
    DROP INDEX deliveries_unanswered;
    CREATE INDEX deliveries_unanswered ON deliveries (job_id)
      WHERE status IS NULL AND was_sent = 1;

    -- Whether one event still waits must not cost a walk through a full outbox.
    CREATE INDEX outbox_by_message ON outbox (message_id);

    PRAGMA user_version = 5;
    """
}

extension SQLiteTransaction {
  func save(_ mutation: MutationRecord) throws {
    try connection.run(HistorySQL.saveMutation, mutation)
  }

  func mutations(of session: SessionID) throws -> [MutationRecord] {
    try connection.rows(HistorySQL.mutations, session, read: MutationRecord.init(row:))
  }

  func save(_ builds: [BuildRecord]) throws {
    let statement = try connection.prepared(HistorySQL.saveBuild)
    for build in builds { try statement.run(build) }
  }

  func builds(of session: SessionID) throws -> [BuildRecord] {
    try connection.rows(HistorySQL.builds, session, read: BuildRecord.init(row:))
  }

  func reports(of contexts: [ContextKey]) throws -> [PhoneReport] {
    let found = try Set(contexts).sorted().flatMap { context in
      try connection.rows(HistorySQL.reports, context, read: PhoneReport.init(row:))
    }
    // The sort is stable: those of one moment stay in the order they came in.
    return found.sorted { $0.reportedAt < $1.reportedAt }
  }

  func unpublished(among events: [EventID]) throws -> Set<EventID> {
    Set(
      try events.filter { event in
        try connection.first(HistorySQL.unpublished, event) { try $0.next() as Int } != nil
      })
  }
}

enum HistorySQL: String, SQLText {
  case saveMutation = """
    INSERT INTO mutations
      (session_id, rev, mutation, user_id, event_id, event_type, accepted_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (session_id, rev) DO NOTHING
    """
  case mutations = """
    SELECT session_id, rev, mutation, user_id, event_id, event_type, accepted_at_ms
    FROM mutations WHERE session_id = ? ORDER BY rev
    """
  case saveBuild = """
    INSERT INTO builds (session_id, user_id, context_key, rev, outcome, update_jobs, start_jobs,
      fcm_jobs, reason, built_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  case builds = """
    SELECT session_id, user_id, context_key, rev, outcome, update_jobs, start_jobs, fcm_jobs,
      reason, built_at_ms
    FROM builds WHERE session_id = ? ORDER BY built_at_ms, id
    """
  case saveReport = """
    INSERT INTO phone_reports (context_key, user_id, state, rev, reported_at_ms)
    VALUES (?, ?, ?, ?, ?)
    """
  case removeReportsBeyond = """
    DELETE FROM phone_reports WHERE id IN (
      SELECT id FROM phone_reports WHERE context_key = ? ORDER BY id DESC LIMIT -1 OFFSET ?)
    """
  case reports = """
    SELECT context_key, user_id, state, rev, reported_at_ms
    FROM phone_reports WHERE context_key = ? ORDER BY id
    """
  case unpublished = "SELECT 1 FROM outbox WHERE message_id = ? LIMIT 1"
  case removeMutations = """
    DELETE FROM mutations WHERE rowid IN (
      SELECT rowid FROM mutations WHERE accepted_at_ms < ? ORDER BY accepted_at_ms LIMIT ?)
    """
  case removeBuilds = """
    DELETE FROM builds WHERE id IN (
      SELECT id FROM builds WHERE built_at_ms < ? ORDER BY built_at_ms LIMIT ?)
    """
  case removeReports = """
    DELETE FROM phone_reports WHERE id IN (
      SELECT id FROM phone_reports WHERE reported_at_ms < ? ORDER BY reported_at_ms LIMIT ?)
    """
}
