import Pipeline
import Vocabulary

extension SQLiteTransaction {
  func append(_ event: OutboxEvent) throws {
    try connection.run(OutboxSQL.append, event)
  }

  func removeEvents(_ sequences: [Int64]) throws {
    for sequence in sequences { try connection.run(OutboxSQL.remove, sequence) }
  }

  func releaseEvents(_ sequences: [Int64]) throws {
    for sequence in sequences { try connection.run(OutboxSQL.release, sequence) }
  }

  func postponeEvents(_ sequences: [Int64], until: UnixTime, parking: Bool) throws {
    for sequence in sequences {
      try connection.run(OutboxSQL.postpone, sequence, until, parking)
    }
  }

  func parkedEvents() throws -> Int {
    try connection.first(OutboxSQL.parked) { try $0.next() } ?? 0
  }

  func outboxDepth() throws -> (events: Int, oldest: UnixTime?) {
    let events: Int = try connection.first(OutboxSQL.depth) { try $0.next() } ?? 0
    return (events, try connection.first(OutboxSQL.oldest) { try $0.next() })
  }
}

enum OutboxSQL: String, SQLText {
  case append = """
    INSERT INTO outbox (message_id, type, content_type, headers, body, timestamp_ms, routing_key,
      stored_at_ms, order_key)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  /// Walks from the oldest: the only rows passed over are the few that others hold, and what waits
  /// behind those. An index on the lease would have the whole backlog sorted instead.
  case lease = """
    UPDATE outbox SET leased_until_ms = ?4
    WHERE sequence IN (
      SELECT sequence FROM outbox
      WHERE leased_until_ms NOT BETWEEN ?1 + 1 AND ?2
        AND NOT EXISTS (
          SELECT 1 FROM outbox AS earlier
          WHERE earlier.order_key = outbox.order_key AND earlier.sequence < outbox.sequence
            AND earlier.leased_until_ms BETWEEN ?1 + 1 AND ?2 AND earlier.is_parked = 0)
      ORDER BY sequence LIMIT ?3)
    RETURNING sequence, message_id, type, content_type, headers, body, timestamp_ms, routing_key,
      stored_at_ms, order_key, tries
    """
  /// The same walk, which ends at the first.
  case hasFree = """
    SELECT EXISTS (
      SELECT 1 FROM outbox
      WHERE leased_until_ms NOT BETWEEN ?1 + 1 AND ?2
        AND NOT EXISTS (
          SELECT 1 FROM outbox AS earlier
          WHERE earlier.order_key = outbox.order_key AND earlier.sequence < outbox.sequence
            AND earlier.leased_until_ms BETWEEN ?1 + 1 AND ?2 AND earlier.is_parked = 0))
    """
  case remove = "DELETE FROM outbox WHERE sequence = ?"
  case release = "UPDATE outbox SET leased_until_ms = 0 WHERE sequence = ?"
  case postpone = """
    UPDATE outbox SET leased_until_ms = ?2, tries = tries + 1, is_parked = max(is_parked, ?3)
    WHERE sequence = ?1
    """
  case parked = "SELECT count(*) FROM outbox WHERE is_parked = 1"
  case depth = "SELECT events FROM outbox_depth WHERE id = 1"
  case oldest = """
    SELECT stored_at_ms FROM outbox WHERE is_parked = 0 ORDER BY sequence LIMIT 1
    """
}
