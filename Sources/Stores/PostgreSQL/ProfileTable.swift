import Pipeline
import Sessions
import Vocabulary

extension PostgreSQLTransaction {
  func profiles(of users: [UserID]) throws -> [UserID: Profile] {
    guard !users.isEmpty else { return [:] }
    let rows = try connection.rows(ProfileSQL.some, users, read: Profile.init(row:))
    return Dictionary(uniqueKeysWithValues: rows.map { ($0.userID, $0) })
  }

  func save(_ profile: Profile) throws {
    try connection.run(ProfileSQL.save, profile)
  }
}

enum ProfileSQL: String, SQLText {
  case some = "SELECT user_id, name, tint, emoji, locale FROM profiles WHERE user_id = ANY($1)"
  case save = """
    INSERT INTO profiles (user_id, name, tint, emoji, locale) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (user_id) DO UPDATE SET
      name = excluded.name, tint = excluded.tint, emoji = excluded.emoji,
      locale = excluded.locale
    """
}
