extension Migrations {
  /// Step 2: what the expiry sweep and the notifier search for.
  static let sweepIndexes = """
    -- Since when the kitchen works for the session without any change; NULL when it does not.
    ALTER TABLE sessions ADD COLUMN in_kitchen_since_ms INTEGER;
    UPDATE sessions
      SET in_kitchen_since_ms = 1000 * CAST(strftime('%s', json ->> '$.updated_at') AS INTEGER)
      WHERE is_live = 1 AND state IN ('generating', 'finalizing');
    CREATE INDEX sessions_in_kitchen ON sessions (in_kitchen_since_ms)
      WHERE in_kitchen_since_ms IS NOT NULL;

    CREATE INDEX deliveries_unanswered ON deliveries (job_id) WHERE status IS NULL;

    PRAGMA user_version = 2;
    """
}
