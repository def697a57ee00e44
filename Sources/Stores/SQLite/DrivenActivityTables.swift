import Activities
import Pipeline
import Vocabulary

extension Migrations {
  /// Step 7: activities that a program drives through the API.
  static let drivenActivityTables = """
    -- The JSON is the truth; the other columns repeat what is searched for.
    CREATE TABLE activities (
      activity_key TEXT PRIMARY KEY NOT NULL,
      json TEXT NOT NULL,
      state TEXT NOT NULL,
      rev INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX activities_by_expiry ON activities (expires_at_ms) WHERE state = 'live';

    -- updated_at_ms: of the activity.
    CREATE TABLE activity_recipients (
      activity_key TEXT NOT NULL REFERENCES activities (activity_key) ON DELETE CASCADE,
      user_id TEXT NOT NULL,
      updated_at_ms INTEGER NOT NULL,
      PRIMARY KEY (activity_key, user_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX activity_recipients_by_user ON activity_recipients (user_id, updated_at_ms);

    -- JSON of what a state carries besides; NULL: nothing.
    ALTER TABLE activity_state ADD COLUMN extras TEXT;

    -- Which phone was asked to start: an update token may come without saying of which card.
    ALTER TABLE la_starts ADD COLUMN user_id TEXT;
    -- cards_max: how many cards the start may have put on it.
    ALTER TABLE la_starts ADD COLUMN device_id TEXT;
    ALTER TABLE la_starts ADD COLUMN cards_max INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX la_starts_by_user ON la_starts (user_id, first_asked_at_ms)
      WHERE user_id IS NOT NULL;

    PRAGMA user_version = 7;
    """
}

extension Migrations {
  /// Step 11: when an activity's channel is to be looked after.
  static let channels = """
    ALTER TABLE activities ADD COLUMN channel_due_at_ms INTEGER;
    CREATE INDEX activities_by_channel ON activities (channel_due_at_ms)
      WHERE channel_due_at_ms IS NOT NULL;

    PRAGMA user_version = 11;
    """
}

extension SQLiteTransaction {
  func activity(_ key: ActivityKey) throws -> Activity? {
    try connection.first(DrivenActivitySQL.one, key, read: Activity.init(row:))
  }

  /// Nobody is ever removed from the list.
  func saveRecipients(of activity: Activity) throws {
    for recipient in activity.recipients {
      try connection.run(
        DrivenActivitySQL.saveRecipient, activity.key, recipient.userID, activity.updatedAt)
    }
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
  case one = "SELECT json FROM activities WHERE activity_key = ?"
  case save = """
    INSERT INTO activities (activity_key, json, state, rev, expires_at_ms, channel_due_at_ms)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (activity_key) DO UPDATE SET
      json = excluded.json, state = excluded.state, rev = excluded.rev,
      expires_at_ms = excluded.expires_at_ms, channel_due_at_ms = excluded.channel_due_at_ms
    """
  case saveRecipient = """
    INSERT INTO activity_recipients (activity_key, user_id, updated_at_ms) VALUES (?, ?, ?)
    ON CONFLICT (activity_key, user_id) DO UPDATE SET updated_at_ms = excluded.updated_at_ms
    """
  case ofUser = """
    SELECT a.json FROM activity_recipients AS r JOIN activities AS a
      ON a.activity_key = r.activity_key
    WHERE r.user_id = ? ORDER BY r.updated_at_ms DESC, r.activity_key LIMIT ?
    """
  case expired = """
    SELECT json FROM activities WHERE state = 'live' AND expires_at_ms <= ?
    ORDER BY expires_at_ms LIMIT ?
    """
  case channelDue = """
    SELECT json FROM activities WHERE channel_due_at_ms <= ?
    ORDER BY channel_due_at_ms, activity_key LIMIT ?
    """
  case earliestExpiry = "SELECT min(expires_at_ms) FROM activities WHERE state = 'live'"
  case replace = """
    UPDATE activities SET json = ?2, state = ?3, rev = ?4, expires_at_ms = ?5,
      channel_due_at_ms = ?6
    WHERE activity_key = ?1 AND state = ?7 AND rev = ?8 AND expires_at_ms = ?9
      AND channel_due_at_ms IS ?10
    """
}
