extension Migrations {
  /// Step 1. JSON is text, kept byte for byte; times are Unix milliseconds. Texts are compared by
  /// their bytes (COLLATE "C"), whatever the database's own order is.
  static let firstTables = """
    -- wants: how many steps a program must know to use the database.
    CREATE TABLE schema_steps (
      step bigint PRIMARY KEY,
      wants bigint NOT NULL
    );
    -- Holds no rows: transactions that write hold its lock, see Access.
    CREATE TABLE writers ();

    CREATE TABLE profiles (
      user_id text COLLATE "C" PRIMARY KEY,
      name text, tint text, emoji text, locale text
    );

    -- The JSON is the truth; the other columns repeat what is searched for. in_kitchen_since_ms:
    -- since when the kitchen works for it without any change; NULL when it does not.
    CREATE TABLE sessions (
      id text COLLATE "C" PRIMARY KEY,
      json text NOT NULL,
      state text NOT NULL,
      rev bigint NOT NULL,
      is_live boolean NOT NULL,
      expires_at_ms bigint NOT NULL,
      in_kitchen_since_ms bigint
    );
    CREATE INDEX sessions_by_expiry ON sessions (expires_at_ms) WHERE is_live;
    CREATE INDEX sessions_ended ON sessions (expires_at_ms) WHERE NOT is_live;
    CREATE INDEX sessions_in_kitchen ON sessions (in_kitchen_since_ms)
      WHERE in_kitchen_since_ms IS NOT NULL;

    -- is_live: the session has not ended and this participant has not left.
    CREATE TABLE participants (
      session_id text COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      user_id text COLLATE "C" NOT NULL,
      status text NOT NULL,
      is_live boolean NOT NULL,
      PRIMARY KEY (session_id, user_id)
    );
    CREATE INDEX participants_by_user ON participants (user_id) WHERE is_live;

    CREATE TABLE answers (
      session_id text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      json text NOT NULL,
      PRIMARY KEY (session_id, user_id)
    );

    CREATE TABLE activities (
      activity_key text COLLATE "C" PRIMARY KEY,
      json text NOT NULL,
      state text NOT NULL,
      rev bigint NOT NULL,
      expires_at_ms bigint NOT NULL,
      channel_due_at_ms bigint
    );
    CREATE INDEX activities_by_expiry ON activities (expires_at_ms) WHERE state = 'live';
    CREATE INDEX activities_ended ON activities (expires_at_ms) WHERE state = 'ended';
    CREATE INDEX activities_by_channel ON activities (channel_due_at_ms, activity_key)
      WHERE channel_due_at_ms IS NOT NULL;

    -- updated_at_ms: of the activity.
    CREATE TABLE activity_recipients (
      activity_key text COLLATE "C" NOT NULL
        REFERENCES activities (activity_key) ON DELETE CASCADE,
      user_id text COLLATE "C" NOT NULL,
      updated_at_ms bigint NOT NULL,
      PRIMARY KEY (activity_key, user_id)
    );
    CREATE INDEX activity_recipients_by_user ON activity_recipients (user_id, updated_at_ms);

    -- delivered_rev: the newest rev that APNs accepted for this token. It changes with every push
    -- and is in no index, so that a page's free part takes the new row.
    CREATE TABLE tokens (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      token text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      context_key text COLLATE "C",
      activity_id text COLLATE "C",
      attributes_type text COLLATE "C",
      environment text NOT NULL,
      bundle_id text COLLATE "C",
      device_id text COLLATE "C",
      frequent_pushes_enabled boolean,
      registered_at_ms bigint NOT NULL,
      proven_at_ms bigint,
      delivered_rev bigint,
      pruned_at_ms bigint,
      pruned_because text
    ) WITH (fillfactor = 80);
    CREATE UNIQUE INDEX tokens_by_token
      ON tokens (token, user_id, kind, coalesce(attributes_type, ''));
    CREATE INDEX tokens_by_user ON tokens (user_id, kind, device_id);
    CREATE INDEX tokens_by_context ON tokens (context_key) WHERE context_key IS NOT NULL;
    CREATE INDEX tokens_by_activity ON tokens (user_id, activity_id)
      WHERE activity_id IS NOT NULL;
    CREATE INDEX tokens_by_pruning ON tokens (pruned_at_ms) WHERE pruned_at_ms IS NOT NULL;
    CREATE INDEX tokens_by_age ON tokens (kind, registered_at_ms) WHERE pruned_at_ms IS NULL;

    -- extras: JSON of what a state carries besides; NULL: nothing.
    CREATE TABLE activity_state (
      context_key text COLLATE "C" PRIMARY KEY,
      session_id text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      rev bigint NOT NULL,
      event text NOT NULL,
      content_state text NOT NULL,
      attributes_type text NOT NULL,
      attributes text,
      alert_title text,
      alert_body text,
      stale_at_ms bigint,
      dismiss_at_ms bigint,
      deadline_ms bigint NOT NULL,
      caused_at_ms bigint NOT NULL,
      traceparent text,
      extras text
    ) WITH (fillfactor = 70);
    CREATE INDEX activity_state_live ON activity_state (user_id) WHERE event = 'update';
    CREATE INDEX activity_state_by_session ON activity_state (session_id);

    CREATE TABLE activity_reports (
      context_key text COLLATE "C" PRIMARY KEY,
      user_id text COLLATE "C" NOT NULL,
      state text NOT NULL,
      rev bigint,
      reported_at_ms bigint NOT NULL
    );

    -- cards_max: how many cards the start may have put on the phone.
    CREATE TABLE la_starts (
      session_id text COLLATE "C" NOT NULL,
      token text COLLATE "C" NOT NULL,
      context_key text COLLATE "C" NOT NULL,
      first_asked_at_ms bigint NOT NULL,
      claimed_until_ms bigint,
      accepted_at_ms bigint,
      user_id text COLLATE "C",
      device_id text COLLATE "C",
      cards_max bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (session_id, token)
    );
    CREATE INDEX la_starts_by_token ON la_starts (token, accepted_at_ms)
      WHERE accepted_at_ms IS NOT NULL;
    CREATE INDEX la_starts_by_user ON la_starts (user_id, first_asked_at_ms)
      WHERE user_id IS NOT NULL;

    """ + recordTables
}
