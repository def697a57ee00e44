import Pipeline
import Vocabulary

extension Migrations {
  /// Step 8.
  static let acceptedAlerts = """
    -- This index cost more than the table and its other indexes together. A Live Activity's pushes
    -- need not be in it: nobody asks for them by their job. And for a list after IN, SQLite makes a
    -- table at each insert.
    DROP INDEX deliveries_accepted;
    CREATE INDEX deliveries_accepted ON deliveries (job_id)
      WHERE status BETWEEN 200 AND 202
        AND event <> 'start' AND event <> 'update' AND event <> 'end';

    PRAGMA user_version = 8;
    """
}

extension SQLiteTransaction {
  func save(_ records: [DeliveryRecord]) throws {
    let inEights = records.count / 8 * 8
    if inEights > 0 {
      let eight = try connection.prepared(DeliverySQL.saveEight)
      for first in stride(from: 0, to: inEights, by: 8) {
        try eight.each { parameters in
          for record in records[first..<first + 8] { parameters.append(record) }
        }
      }
    }
    guard inEights < records.count else { return }
    let one = try connection.prepared(DeliverySQL.save)
    for record in records[inEights...] { try one.run(record) }
  }

  func deliveries(of session: SessionID) throws -> [DeliveryRecord] {
    try connection.rows(DeliverySQL.ofSession, session, read: DeliveryRecord.init(row:))
  }

  func acceptedJobs(among ids: [String]) throws -> Set<String> {
    try jobs(DeliverySQL.accepted, among: ids)
  }

  func unansweredJobs(among ids: [String]) throws -> Set<String> {
    try jobs(DeliverySQL.unanswered, among: ids)
  }

  private func jobs(_ sql: DeliverySQL, among ids: [String]) throws -> Set<String> {
    Set(try ids.filter { id in try connection.first(sql, id) { try $0.next() as Int } != nil })
  }

  func removeDeliveries(settledBefore moment: UnixTime, limit: Int) throws -> Int {
    try connection.count(DeliverySQL.removeOld, moment, limit)
  }
}

enum DeliverySQL: String, SQLText {
  case save = """
    INSERT INTO deliveries (job_id, session_id, user_id, context_key, rev, token_fingerprint,
      event, status, reason, attempt, caused_at_ms, settled_at_ms, was_sent, consequence)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  /// A quarter cheaper per row than one by one; beyond eight there is little more to gain.
  case saveEight = """
    INSERT INTO deliveries (job_id, session_id, user_id, context_key, rev, token_fingerprint,
      event, status, reason, attempt, caused_at_ms, settled_at_ms, was_sent, consequence)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?),
      (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?),
      (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?),
      (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?),
      (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?),
      (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?),
      (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?),
      (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  case ofSession = """
    SELECT job_id, session_id, user_id, context_key, rev, token_fingerprint, event, status,
      reason, attempt, caused_at_ms, settled_at_ms, was_sent, consequence
    FROM deliveries WHERE session_id = ? ORDER BY settled_at_ms, id
    """
  case accepted = """
    SELECT 1 FROM deliveries WHERE job_id = ? AND status BETWEEN 200 AND 202
      AND event <> 'start' AND event <> 'update' AND event <> 'end' LIMIT 1
    """
  case unanswered = """
    SELECT 1 FROM deliveries WHERE job_id = ? AND status IS NULL AND was_sent = 1 LIMIT 1
    """
  case removeOld = """
    DELETE FROM deliveries WHERE id IN (
      SELECT id FROM deliveries WHERE settled_at_ms < ? ORDER BY settled_at_ms LIMIT ?)
    """
}
