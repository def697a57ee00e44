import Activities
import ActivityContracts
import Pipeline
import Sessions
import Vocabulary

/// A context key that a caller named, taken apart: whose card of what it is.
enum OwnContext: Hashable {
  /// `cooksuggest:{session}:{user}`.
  case cookSession(SessionID)
  /// `activity:{activity_key}:{user}`.
  case activity(ActivityKey)

  /// The longest context key, in Unicode scalars.
  static let charactersMax = 400
  private static let cookPrefix = "cooksuggest:"

  /// Nil when the key is not the caller's own.
  init?(_ key: ContextKey, of user: UserID) {
    // No reader of an event takes a longer one.
    guard key.text.utf8.count <= ContextKey.bytesMax else { return nil }
    if let activity = Activity.key(of: key, user: user) {
      self = .activity(activity)
      return
    }
    guard key.text.hasPrefix(Self.cookPrefix) else { return nil }
    // No session's id holds a colon; a user's may.
    let session = key.text.dropFirst(Self.cookPrefix.count).prefix { $0 != ":" }
    let wanted = CookSuggestActivityAttributes.contextKey(
      sessionID: String(session), userID: user.text)
    guard !session.isEmpty, key == ContextKey(wanted) else { return nil }
    self = .cookSession(SessionID(String(session)))
  }
}

extension API {
  /// Whether this user has an activity of this key: it takes part in the session, or a state was
  /// built for it. Events of other programs are of sessions and activities that have no row here.
  func isOwn(_ key: ContextKey, _ user: UserID, _ rows: any StoreTransaction) throws -> Bool {
    switch OwnContext(key, of: user) {
    case .cookSession(let id):
      if let session = try rows.session(id) { return session.participant(user) != nil }
      return try rows.activityStates([key])[key] != nil
    case .activity(let activity):
      if let activity = try rows.activity(activity) { return activity.recipient(user) != nil }
      return try rows.activityStates([key])[key] != nil
    case nil: return false
    }
  }
}
