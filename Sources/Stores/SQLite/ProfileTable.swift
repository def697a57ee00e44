import Pipeline
import Sessions
import Vocabulary

extension SQLiteTransaction {
  func profiles(of users: [UserID]) throws -> [UserID: Profile] {
    let statement = try connection.prepared(ProfileSQL.one)
    var found: [UserID: Profile] = [:]
    for user in users {
      try statement.each(user) { found[user] = try Profile(row: &$0) }
    }
    return found
  }

  func save(_ profile: Profile) throws {
    try connection.run(ProfileSQL.save, profile)
  }
}

enum ProfileSQL: String, SQLText {
  case one = "SELECT user_id, name, tint, emoji, locale FROM profiles WHERE user_id = ?"
  case save = """
    INSERT INTO profiles (user_id, name, tint, emoji, locale) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (user_id) DO UPDATE SET
      name = excluded.name, tint = excluded.tint, emoji = excluded.emoji,
      locale = excluded.locale
    """
}
