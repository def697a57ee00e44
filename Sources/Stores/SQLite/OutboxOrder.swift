extension Migrations {
  /// The order of one session's events in the outbox, and events that the broker does not take.
  static let outboxOrder = """
    -- Events of one key never overtake each other.
    ALTER TABLE outbox ADD COLUMN order_key TEXT;
    -- How often the broker refused it while others went.
    ALTER TABLE outbox ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE outbox ADD COLUMN is_parked INTEGER NOT NULL DEFAULT 0 CHECK (is_parked IN (0, 1));
    CREATE INDEX outbox_by_order_key ON outbox (order_key, sequence);
    CREATE INDEX outbox_parked ON outbox (is_parked) WHERE is_parked = 1;

    PRAGMA user_version = 4;
    """
}
