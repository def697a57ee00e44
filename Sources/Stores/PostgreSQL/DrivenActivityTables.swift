import Activities
import Pipeline
import Vocabulary

extension PostgreSQLTransaction {
  func activity(_ key: ActivityKey) throws -> Activity? {
    try connection.first(DrivenActivitySQL.one, key, read: Activity.init(row:))
  }

  /// Nobody is ever removed from the list.
  func saveRecipients(of activity: Activity) throws {
    try connection.run(
      DrivenActivitySQL.saveRecipients, activity.key, activity.updatedAt,
      Array(Set(activity.recipients.map(\.userID))))
  }

  func activities(of user: UserID, limit: Int) throws -> [Activity] {
    try connection.rows(DrivenActivitySQL.ofUser, user, limit, read: Activity.init(row:))
  }

  func expiredActivities(at moment: UnixTime, limit: Int) throws -> [Activity] {
    try connection.rows(DrivenActivitySQL.expired, moment, limit, read: Activity.init(row:))
  }

  func earliestActivityExpiry() throws -> UnixTime? {
    let moment = try connection.first(DrivenActivitySQL.earliestExpiry) {
      try $0.next() as UnixTime?
    }
    return moment ?? nil
  }

  func activitiesWithChannelDue(at moment: UnixTime, limit: Int) throws -> [Activity] {
    try connection.rows(DrivenActivitySQL.channelDue, moment, limit, read: Activity.init(row:))
  }
}

enum DrivenActivitySQL: String, SQLText {
  case one = "SELECT json FROM activities WHERE activity_key = $1"
  case save = """
    INSERT INTO activities (activity_key, json, state, rev, expires_at_ms, channel_due_at_ms)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (activity_key) DO UPDATE SET
      json = excluded.json, state = excluded.state, rev = excluded.rev,
      expires_at_ms = excluded.expires_at_ms, channel_due_at_ms = excluded.channel_due_at_ms
    """
  case saveRecipients = """
    INSERT INTO activity_recipients (activity_key, user_id, updated_at_ms)
    SELECT $1, user_id, $2 FROM unnest($3::text[]) AS r (user_id)
    ON CONFLICT (activity_key, user_id) DO UPDATE SET updated_at_ms = excluded.updated_at_ms
    """
  case ofUser = """
    SELECT a.json FROM activity_recipients AS r JOIN activities AS a
      ON a.activity_key = r.activity_key
    WHERE r.user_id = $1 ORDER BY r.updated_at_ms DESC, r.activity_key LIMIT $2
    """
  case expired = """
    SELECT json FROM activities WHERE state = 'live' AND expires_at_ms <= $1
    ORDER BY expires_at_ms LIMIT $2
    """
  case channelDue = """
    SELECT json FROM activities WHERE channel_due_at_ms <= $1
    ORDER BY channel_due_at_ms, activity_key LIMIT $2
    """
  case earliestExpiry = "SELECT min(expires_at_ms) FROM activities WHERE state = 'live'"
  case replace = """
    UPDATE activities SET json = $2, state = $3, rev = $4, expires_at_ms = $5,
      channel_due_at_ms = $6
    WHERE activity_key = $1 AND state = $7 AND rev = $8 AND expires_at_ms = $9
      AND channel_due_at_ms IS NOT DISTINCT FROM $10
    """
}
