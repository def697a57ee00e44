import Pipeline
import Vocabulary

extension PostgreSQLTransaction {
  func answer(forKey key: String, of user: UserID, route: String) throws -> StoredAnswer? {
    try connection.first(
      IdempotencySQL.one, user, route, key, read: StoredAnswer.init(row:))
  }

  func save(_ answer: StoredAnswer, forKey key: String, of user: UserID, route: String) throws {
    try connection.run(IdempotencySQL.save, user, route, key, answer)
  }

  func removeAnswers(storedBefore moment: UnixTime, limit: Int) throws {
    try connection.run(IdempotencySQL.removeOld, moment, limit)
  }
}

enum IdempotencySQL: String, SQLText {
  case one = """
    SELECT request_digest, status, headers, body, stored_at_ms FROM idempotency_keys
    WHERE user_id = $1 AND route = $2 AND key = $3
    """
  case save = """
    INSERT INTO idempotency_keys
      (user_id, route, key, request_digest, status, headers, body, stored_at_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (user_id, route, key) DO UPDATE SET
      request_digest = excluded.request_digest, status = excluded.status,
      headers = excluded.headers, body = excluded.body, stored_at_ms = excluded.stored_at_ms
    """
  case removeOld = """
    DELETE FROM idempotency_keys WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM idempotency_keys WHERE stored_at_ms < $1 ORDER BY stored_at_ms LIMIT $2))
    """
}
