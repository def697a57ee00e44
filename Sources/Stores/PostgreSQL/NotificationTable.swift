import Pipeline
import Vocabulary

extension PostgreSQLTransaction {
  func insert(_ notification: Notification) throws -> Bool {
    try connection.count(NotificationSQL.insert, notification) > 0
  }

  func notification(_ id: String, of user: UserID) throws -> Notification? {
    try connection.first(NotificationSQL.one, user, id, read: Notification.init(row:))
  }

  func save(_ notification: Notification) throws {
    try connection.run(NotificationSQL.save, notification)
  }

  func resolvedKeys(among dedupeKeys: [String]) throws -> Set<String> {
    guard !dedupeKeys.isEmpty else { return [] }
    return Set(try connection.rows(NotificationSQL.resolved, dedupeKeys) { try $0.next() })
  }
}

enum NotificationSQL: String, SQLText {
  case insert = """
    INSERT INTO notifications (user_id, id, type, title, body, icon, link, dedupe_key,
      resolved_reason, created_at_ms, updated_at_ms, seen_at_ms, read_at_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    ON CONFLICT (dedupe_key, user_id) DO NOTHING
    """
  case save = """
    INSERT INTO notifications (user_id, id, type, title, body, icon, link, dedupe_key,
      resolved_reason, created_at_ms, updated_at_ms, seen_at_ms, read_at_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    ON CONFLICT (user_id, id) DO UPDATE SET
      resolved_reason = excluded.resolved_reason, updated_at_ms = excluded.updated_at_ms,
      seen_at_ms = excluded.seen_at_ms, read_at_ms = excluded.read_at_ms
    """
  case one = """
    SELECT user_id, id, type, title, body, icon, link, dedupe_key, resolved_reason,
      created_at_ms, updated_at_ms, seen_at_ms, read_at_ms
    FROM notifications WHERE user_id = $1 AND id = $2
    """
  case newest = """
    SELECT user_id, id, type, title, body, icon, link, dedupe_key, resolved_reason,
      created_at_ms, updated_at_ms, seen_at_ms, read_at_ms
    FROM notifications WHERE user_id = $1 AND (created_at_ms, id) < ($2, $3)
    ORDER BY created_at_ms DESC, id DESC LIMIT $4
    """
  case changed = """
    SELECT user_id, id, type, title, body, icon, link, dedupe_key, resolved_reason,
      created_at_ms, updated_at_ms, seen_at_ms, read_at_ms
    FROM notifications
    WHERE user_id = $1 AND updated_at_ms >= $2 AND (created_at_ms, id) < ($3, $4)
    ORDER BY created_at_ms DESC, id DESC LIMIT $5
    """
  case resolve = """
    UPDATE notifications SET resolved_reason = $2, updated_at_ms = $3
    WHERE dedupe_key = $1 AND resolved_reason IS NULL
    RETURNING user_id, id, type, title, body, icon, link, dedupe_key, resolved_reason,
      created_at_ms, updated_at_ms, seen_at_ms, read_at_ms
    """
  case resolved = """
    SELECT dedupe_key FROM notifications WHERE dedupe_key = ANY($1)
    GROUP BY dedupe_key HAVING count(*) = count(resolved_reason)
    """
}
