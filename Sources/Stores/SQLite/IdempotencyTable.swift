import Pipeline
import Vocabulary

extension SQLiteTransaction {
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
    WHERE user_id = ? AND route = ? AND key = ?
    """
  case save = """
    INSERT OR REPLACE INTO idempotency_keys
      (user_id, route, key, request_digest, status, headers, body, stored_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    """
  case removeOld = """
    DELETE FROM idempotency_keys WHERE rowid IN (
      SELECT rowid FROM idempotency_keys WHERE stored_at_ms < ? ORDER BY stored_at_ms LIMIT ?)
    """
}
