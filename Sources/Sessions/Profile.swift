import Vocabulary

/// What a user tells others about itself, and the language it reads.
package struct Profile: Hashable, Sendable {
  package let userID: UserID
  package var name: String?
  package var tint: String?
  package var emoji: String?
  /// BCP 47, such as `de-DE`; nil reads as German.
  package var locale: String?

  package init(
    userID: UserID, name: String? = nil, tint: String? = nil, emoji: String? = nil,
    locale: String? = nil
  ) {
    self.userID = userID
    self.name = name
    self.tint = tint
    self.emoji = emoji
    self.locale = locale
  }
}
