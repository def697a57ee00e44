import Pipeline
import Synchronization
import Vocabulary

extension PostgreSQLTransaction {
  func append(_ event: OutboxEvent) throws {
    try connection.run(OutboxSQL.append, event)
  }

  func removeEvents(_ sequences: [Int64]) throws {
    guard !sequences.isEmpty else { return }
    try connection.run(OutboxSQL.remove, sequences)
  }

  func releaseEvents(_ sequences: [Int64]) throws {
    guard !sequences.isEmpty else { return }
    try connection.run(OutboxSQL.release, sequences)
  }

  func postponeEvents(_ sequences: [Int64], until: UnixTime, parking: Bool) throws {
    try connection.run(OutboxSQL.postpone, sequences, until, parking)
  }

  func parkedEvents() throws -> Int {
    try connection.first(OutboxSQL.parked) { try $0.next() } ?? 0
  }

  func outboxDepth() throws -> (events: Int, oldest: UnixTime?) {
    (try depths.depth(on: connection), try connection.first(OutboxSQL.oldest) { try $0.next() })
  }
}

/// How many events wait. A few are counted each time; to count a full outbox costs as much as to
/// read it, so the number of many may be some seconds old.
final class OutboxDepths: Sendable {
  /// More than this are many.
  private static let few = 10_000
  private static let kept: Duration = .seconds(5)

  private let lastCount = Mutex<(events: Int, at: Duration)?>(nil)

  func depth(on connection: Connection) throws -> Int {
    let some: Int = try connection.first(OutboxSQL.few, Self.few + 1) { try $0.next() } ?? 0
    guard some > Self.few else { return some }
    let now = SystemTime().elapsed()
    if let last = lastCount.withLock({ $0 }), now - last.at < Self.kept { return last.events }
    let all: Int = try connection.first(OutboxSQL.all) { try $0.next() } ?? 0
    lastCount.withLock { $0 = (all, now) }
    return all
  }
}

enum OutboxSQL: String, SQLText {
  case append = """
    INSERT INTO outbox (message_id, type, content_type, headers, body, timestamp_ms, routing_key,
      stored_at_ms, order_key)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    """
  /// Walks from the oldest: the only rows passed over are the few that others hold, and what waits
  /// behind those. Rows that another relay takes at this moment are not skipped: the events behind
  /// them, of the same key, would seem free.
  case lease = """
    UPDATE outbox SET leased_until_ms = $4
    WHERE sequence = ANY(ARRAY(
      SELECT sequence FROM outbox AS event
      WHERE leased_until_ms NOT BETWEEN $1 + 1 AND $2
        AND NOT EXISTS (
          SELECT 1 FROM outbox AS earlier
          WHERE earlier.order_key = event.order_key AND earlier.sequence < event.sequence
            AND earlier.leased_until_ms BETWEEN $1 + 1 AND $2 AND NOT earlier.is_parked)
      ORDER BY sequence LIMIT $3))
    RETURNING sequence, message_id, type, content_type, headers, body, timestamp_ms, routing_key,
      stored_at_ms, order_key, tries
    """
  /// The same walk, which ends at the first.
  case hasFree = """
    SELECT EXISTS (
      SELECT 1 FROM outbox AS event
      WHERE leased_until_ms NOT BETWEEN $1 + 1 AND $2
        AND NOT EXISTS (
          SELECT 1 FROM outbox AS earlier
          WHERE earlier.order_key = event.order_key AND earlier.sequence < event.sequence
            AND earlier.leased_until_ms BETWEEN $1 + 1 AND $2 AND NOT earlier.is_parked))
    """
  case remove = "DELETE FROM outbox WHERE sequence = ANY($1)"
  case release = "UPDATE outbox SET leased_until_ms = 0 WHERE sequence = ANY($1)"
  case postpone = """
    UPDATE outbox SET leased_until_ms = $2, tries = tries + 1, is_parked = is_parked OR $3
    WHERE sequence = ANY($1)
    """
  case parked = "SELECT count(*) FROM outbox WHERE is_parked"
  case few = "SELECT count(*) FROM (SELECT 1 FROM outbox ORDER BY sequence LIMIT $1) AS first"
  case all = "SELECT count(*) FROM outbox"
  case oldest = """
    SELECT stored_at_ms FROM outbox WHERE NOT is_parked ORDER BY sequence LIMIT 1
    """
}
