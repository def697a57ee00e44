extension Migrations {
  /// Step 1. JSON is TEXT so that `sqlite3` shows it; times are Unix milliseconds.
  static let firstTables = """
    CREATE TABLE profiles (
      user_id TEXT PRIMARY KEY NOT NULL,
      name TEXT, tint TEXT, emoji TEXT, locale TEXT
    ) STRICT, WITHOUT ROWID;

    -- The JSON is the truth; the other columns repeat what is searched for.
    CREATE TABLE sessions (
      id TEXT PRIMARY KEY NOT NULL,
      json TEXT NOT NULL,
      state TEXT NOT NULL,
      rev INTEGER NOT NULL,
      is_live INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX sessions_by_expiry ON sessions (expires_at_ms) WHERE is_live = 1;

    -- is_live: the session has not ended and this participant has not left.
    CREATE TABLE participants (
      session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      user_id TEXT NOT NULL,
      status TEXT NOT NULL,
      is_live INTEGER NOT NULL,
      PRIMARY KEY (session_id, user_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX participants_by_user ON participants (user_id) WHERE is_live = 1;

    CREATE TABLE answers (
      session_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      json TEXT NOT NULL,
      PRIMARY KEY (session_id, user_id)
    ) STRICT;

    -- delivered_rev: the newest rev that APNs accepted for this token.
    CREATE TABLE tokens (
      token TEXT NOT NULL,
      user_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      context_key TEXT,
      activity_id TEXT,
      attributes_type TEXT,
      environment TEXT NOT NULL,
      bundle_id TEXT,
      device_id TEXT,
      frequent_pushes_enabled INTEGER,
      registered_at_ms INTEGER NOT NULL,
      proven_at_ms INTEGER,
      delivered_rev INTEGER,
      pruned_at_ms INTEGER,
      pruned_because TEXT
    ) STRICT;
    CREATE UNIQUE INDEX tokens_by_token
      ON tokens (token, user_id, kind, ifnull(attributes_type, ''));
    CREATE INDEX tokens_by_user ON tokens (user_id, kind, device_id);
    CREATE INDEX tokens_by_context ON tokens (context_key) WHERE context_key IS NOT NULL;
    CREATE INDEX tokens_by_activity ON tokens (user_id, activity_id)
      WHERE activity_id IS NOT NULL;
    CREATE INDEX tokens_by_pruning ON tokens (pruned_at_ms) WHERE pruned_at_ms IS NOT NULL;

    CREATE TABLE activity_state (
      context_key TEXT PRIMARY KEY NOT NULL,
      session_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      rev INTEGER NOT NULL,
      event TEXT NOT NULL,
      content_state TEXT NOT NULL,
      attributes_type TEXT NOT NULL,
      attributes TEXT,
      alert_title TEXT,
      alert_body TEXT,
      stale_at_ms INTEGER,
      dismiss_at_ms INTEGER,
      deadline_ms INTEGER NOT NULL,
      caused_at_ms INTEGER NOT NULL,
      traceparent TEXT
    ) STRICT;
    CREATE INDEX activity_state_live ON activity_state (user_id) WHERE event = 'update';

    CREATE TABLE activity_reports (
      context_key TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL,
      state TEXT NOT NULL,
      rev INTEGER,
      reported_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE la_starts (
      session_id TEXT NOT NULL,
      token TEXT NOT NULL,
      context_key TEXT NOT NULL,
      first_asked_at_ms INTEGER NOT NULL,
      claimed_until_ms INTEGER,
      accepted_at_ms INTEGER,
      PRIMARY KEY (session_id, token)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE deliveries (
      id INTEGER PRIMARY KEY,
      job_id TEXT NOT NULL,
      session_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      context_key TEXT,
      rev INTEGER NOT NULL,
      token_fingerprint TEXT NOT NULL,
      event TEXT NOT NULL,
      status INTEGER,
      reason TEXT,
      attempt INTEGER NOT NULL,
      caused_at_ms INTEGER NOT NULL,
      settled_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX deliveries_by_session ON deliveries (session_id, settled_at_ms);
    CREATE INDEX deliveries_accepted ON deliveries (job_id) WHERE status = 200;
    CREATE INDEX deliveries_by_age ON deliveries (settled_at_ms);

    CREATE TABLE notifications (
      user_id TEXT NOT NULL,
      id TEXT NOT NULL,
      type TEXT NOT NULL,
      title TEXT NOT NULL,
      body TEXT NOT NULL,
      icon TEXT NOT NULL,
      link TEXT NOT NULL,
      dedupe_key TEXT NOT NULL,
      resolved_reason TEXT,
      created_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL,
      seen_at_ms INTEGER,
      read_at_ms INTEGER,
      PRIMARY KEY (user_id, id)
    ) STRICT;
    CREATE UNIQUE INDEX notifications_by_dedupe_key ON notifications (dedupe_key, user_id);
    CREATE INDEX notifications_by_creation ON notifications (user_id, created_at_ms, id);
    CREATE INDEX notifications_by_change ON notifications (user_id, updated_at_ms);

    CREATE TABLE idempotency_keys (
      user_id TEXT NOT NULL,
      route TEXT NOT NULL,
      key TEXT NOT NULL,
      request_digest TEXT NOT NULL,
      status INTEGER NOT NULL,
      headers TEXT NOT NULL,
      body BLOB NOT NULL,
      stored_at_ms INTEGER NOT NULL,
      PRIMARY KEY (user_id, route, key)
    ) STRICT;
    CREATE INDEX idempotency_keys_by_age ON idempotency_keys (stored_at_ms);

    -- AUTOINCREMENT: a sequence is never used twice, or a late confirm of a removed event would
    -- remove another one. leased_until_ms 0: nobody holds it.
    CREATE TABLE outbox (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      message_id TEXT NOT NULL,
      type TEXT NOT NULL,
      content_type TEXT NOT NULL,
      headers TEXT NOT NULL,
      body BLOB NOT NULL,
      timestamp_ms INTEGER,
      routing_key TEXT NOT NULL,
      stored_at_ms INTEGER NOT NULL,
      leased_until_ms INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    -- Counting a full outbox would read all of it at every mutation.
    CREATE TABLE outbox_depth (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      events INTEGER NOT NULL
    ) STRICT;
    INSERT INTO outbox_depth (id, events) VALUES (1, 0);
    CREATE TRIGGER outbox_grows AFTER INSERT ON outbox
      BEGIN UPDATE outbox_depth SET events = events + 1 WHERE id = 1; END;
    CREATE TRIGGER outbox_shrinks AFTER DELETE ON outbox
      BEGIN UPDATE outbox_depth SET events = events - 1 WHERE id = 1; END;

    PRAGMA user_version = 1;
    """
}
