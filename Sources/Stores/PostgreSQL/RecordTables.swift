extension Migrations {
  /// The rest of step 1: notifications, what happened, and what waits.
  static let recordTables = """
    -- was_sent false: the sender decided not to send, and reason says why.
    CREATE TABLE deliveries (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      job_id text COLLATE "C" NOT NULL,
      session_id text COLLATE "C" NOT NULL,
      user_id text NOT NULL,
      context_key text,
      rev bigint NOT NULL,
      token_fingerprint text NOT NULL,
      event text COLLATE "C" NOT NULL,
      status bigint,
      reason text,
      attempt bigint NOT NULL,
      caused_at_ms bigint NOT NULL,
      settled_at_ms bigint NOT NULL,
      was_sent boolean NOT NULL,
      consequence text
    );
    CREATE INDEX deliveries_by_session ON deliveries (session_id, settled_at_ms);
    CREATE INDEX deliveries_by_age ON deliveries (settled_at_ms);
    -- Without a Live Activity's pushes: nobody asks for them by their job.
    CREATE INDEX deliveries_accepted ON deliveries (job_id)
      WHERE status BETWEEN 200 AND 202
        AND event <> 'start' AND event <> 'update' AND event <> 'end';
    CREATE INDEX deliveries_unanswered ON deliveries (job_id)
      WHERE status IS NULL AND was_sent;

    CREATE TABLE mutations (
      session_id text COLLATE "C" NOT NULL,
      rev bigint NOT NULL,
      mutation text NOT NULL,
      user_id text,
      event_id text NOT NULL,
      event_type text NOT NULL,
      accepted_at_ms bigint NOT NULL,
      PRIMARY KEY (session_id, rev)
    );
    CREATE INDEX mutations_by_age ON mutations (accepted_at_ms);

    CREATE TABLE builds (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      session_id text COLLATE "C" NOT NULL,
      user_id text NOT NULL,
      context_key text NOT NULL,
      rev bigint NOT NULL,
      outcome text NOT NULL,
      update_jobs bigint NOT NULL,
      start_jobs bigint NOT NULL,
      fcm_jobs bigint NOT NULL,
      reason text,
      built_at_ms bigint NOT NULL
    );
    CREATE INDEX builds_by_session ON builds (session_id, built_at_ms);
    CREATE INDEX builds_by_age ON builds (built_at_ms);

    CREATE TABLE phone_reports (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      context_key text COLLATE "C" NOT NULL,
      user_id text NOT NULL,
      state text NOT NULL,
      rev bigint,
      reported_at_ms bigint NOT NULL
    );
    CREATE INDEX phone_reports_by_context ON phone_reports (context_key, id);
    CREATE INDEX phone_reports_by_age ON phone_reports (reported_at_ms);

    CREATE TABLE notifications (
      user_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      type text NOT NULL,
      title text NOT NULL,
      body text NOT NULL,
      icon text NOT NULL,
      link text NOT NULL,
      dedupe_key text COLLATE "C" NOT NULL,
      resolved_reason text,
      created_at_ms bigint NOT NULL,
      updated_at_ms bigint NOT NULL,
      seen_at_ms bigint,
      read_at_ms bigint,
      PRIMARY KEY (user_id, id)
    );
    CREATE UNIQUE INDEX notifications_by_dedupe_key ON notifications (dedupe_key, user_id);
    CREATE INDEX notifications_by_creation ON notifications (user_id, created_at_ms, id);
    CREATE INDEX notifications_by_change ON notifications (user_id, updated_at_ms);
    CREATE INDEX notifications_by_age ON notifications (created_at_ms);

    CREATE TABLE idempotency_keys (
      user_id text COLLATE "C" NOT NULL,
      route text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      request_digest text NOT NULL,
      status bigint NOT NULL,
      headers text NOT NULL,
      body bytea NOT NULL,
      stored_at_ms bigint NOT NULL,
      PRIMARY KEY (user_id, route, key)
    );
    CREATE INDEX idempotency_keys_by_age ON idempotency_keys (stored_at_ms);

    CREATE TABLE webpush_subscriptions (
      endpoint text COLLATE "C" PRIMARY KEY,
      id text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      p256dh text NOT NULL,
      auth text NOT NULL,
      vapid_key_id text NOT NULL,
      created_at_ms bigint NOT NULL,
      resubscribe_since_ms bigint,
      pruned_at_ms bigint,
      pruned_because text
    );
    CREATE UNIQUE INDEX webpush_subscriptions_by_id ON webpush_subscriptions (id);
    CREATE INDEX webpush_subscriptions_by_user ON webpush_subscriptions (user_id);
    CREATE INDEX webpush_subscriptions_by_pruning ON webpush_subscriptions (pruned_at_ms)
      WHERE pruned_at_ms IS NOT NULL;

    CREATE TABLE fcm_tokens (
      id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
      token text COLLATE "C" PRIMARY KEY,
      user_id text COLLATE "C" NOT NULL,
      device_id text COLLATE "C",
      package text,
      registered_at_ms bigint NOT NULL,
      pruned_at_ms bigint,
      pruned_because text
    );
    CREATE INDEX fcm_tokens_by_user ON fcm_tokens (user_id);
    CREATE INDEX fcm_tokens_by_age ON fcm_tokens (registered_at_ms) WHERE pruned_at_ms IS NULL;
    CREATE INDEX fcm_tokens_by_pruning ON fcm_tokens (pruned_at_ms)
      WHERE pruned_at_ms IS NOT NULL;

    -- The newest rev of each card that FCM has taken for each phone.
    CREATE TABLE fcm_delivered (
      context_key text COLLATE "C" NOT NULL,
      token text COLLATE "C" NOT NULL,
      rev bigint NOT NULL,
      delivered_at_ms bigint NOT NULL,
      PRIMARY KEY (context_key, token)
    );
    CREATE INDEX fcm_delivered_by_age ON fcm_delivered (delivered_at_ms);

    -- leased_until_ms 0: nobody holds it. A counter of its own would be a row that every mutation
    -- changes, and all would clash on it.
    CREATE TABLE outbox (
      sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      message_id text COLLATE "C" NOT NULL,
      type text NOT NULL,
      content_type text NOT NULL,
      headers text NOT NULL,
      body bytea NOT NULL,
      timestamp_ms bigint,
      routing_key text NOT NULL,
      stored_at_ms bigint NOT NULL,
      leased_until_ms bigint NOT NULL DEFAULT 0,
      order_key text COLLATE "C",
      tries bigint NOT NULL DEFAULT 0,
      is_parked boolean NOT NULL DEFAULT false
    );
    CREATE INDEX outbox_by_order_key ON outbox (order_key, sequence);
    CREATE INDEX outbox_parked ON outbox (sequence) WHERE is_parked;
    CREATE INDEX outbox_by_message ON outbox (message_id);
    """
}
