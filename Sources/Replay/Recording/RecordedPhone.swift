import ActivityContracts
import Vocabulary

/// A phone that a recording needs: one user's, with one app.
package struct RecordedPhone: Hashable, Sendable {
  package let user: UserID
  /// The attributes type of its app.
  package let app: String
  /// The kinds of token that the app registers, in its own words.
  package let tokens: [String]
  package let locale: String?

  /// The one with the cook session's app.
  init(_ user: RecordedUser) {
    self.user = user.user
    app = CookSuggestActivityAttributes.activityType
    tokens = user.tokens
    locale = user.locale
  }

  /// One with the app of some activities. Its owner hears of invitations on the other one.
  init(_ user: UserID, app: String) {
    self.user = user
    self.app = app
    // What Shiny calls it, and what we do.
    tokens = ["LiveActivityStart", "la-pushToStart"]
    locale = nil
  }
}
