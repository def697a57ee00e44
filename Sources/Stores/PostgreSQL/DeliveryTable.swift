import Pipeline
import Vocabulary

extension PostgreSQLTransaction {
  func save(_ records: [DeliveryRecord]) throws {
    try connection.run(DeliverySQL.save, columnsOf: records)
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
    guard !ids.isEmpty else { return [] }
    return Set(try connection.rows(sql, ids) { try $0.next() })
  }

  func removeDeliveries(settledBefore moment: UnixTime, limit: Int) throws -> Int {
    try connection.count(DeliverySQL.removeOld, moment, limit)
  }
}

enum DeliverySQL: String, SQLText {
  case save = """
    INSERT INTO deliveries (job_id, session_id, user_id, context_key, rev, token_fingerprint,
      event, status, reason, attempt, caused_at_ms, settled_at_ms, was_sent, consequence)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[],
      $6::text[], $7::text[], $8::bigint[], $9::text[], $10::bigint[], $11::bigint[],
      $12::bigint[], $13::boolean[], $14::text[])
    """
  case ofSession = """
    SELECT job_id, session_id, user_id, context_key, rev, token_fingerprint, event, status,
      reason, attempt, caused_at_ms, settled_at_ms, was_sent, consequence
    FROM deliveries WHERE session_id = $1 ORDER BY settled_at_ms, id
    """
  case accepted = """
    SELECT job_id FROM deliveries WHERE job_id = ANY($1) AND status BETWEEN 200 AND 202
      AND event <> 'start' AND event <> 'update' AND event <> 'end'
    """
  case unanswered = """
    SELECT job_id FROM deliveries WHERE job_id = ANY($1) AND status IS NULL AND was_sent
    """
  case removeOld = """
    DELETE FROM deliveries WHERE id = ANY(ARRAY(
      SELECT id FROM deliveries WHERE settled_at_ms < $1 ORDER BY settled_at_ms LIMIT $2))
    """
}
