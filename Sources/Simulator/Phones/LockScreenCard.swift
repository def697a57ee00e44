import ActivityContracts
import Vocabulary

/// One Live Activity on a phone's Lock Screen.
package struct LockScreenCard: Hashable, Sendable {
  package enum Standing: String, Codable, Hashable, Sendable {
    case active
    /// Its stale date passed without news: drawn as "not current".
    case stale
    /// Shows its final state until the system takes it away.
    case ended
    /// Swiped away by the person.
    case dismissed
    /// Taken away by the system after the end.
    case removed

    /// Whether the Lock Screen still draws it.
    package var isShown: Bool { self != .dismissed && self != .removed }
    /// Whether a push can still change it.
    package var isLive: Bool { self == .active || self == .stale }
  }

  package enum Origin: String, Codable, Hashable, Sendable { case push, local }

  package let activityID: String
  /// Lower-case digits; APNs makes a new one for each activity.
  package let updateToken: String
  package let origin: Origin
  package let attributes: CookSuggestActivityAttributes
  package internal(set) var contentState: CookSuggestActivityAttributes.ContentState
  /// The newest `aps.timestamp` shown, Unix seconds.
  package internal(set) var timestamp: Int64
  package internal(set) var standing: Standing
  package internal(set) var staleAt: UnixTime?
  package internal(set) var dismissAt: UnixTime?
  package let startedAt: UnixTime
  package internal(set) var changedAt: UnixTime

  package var sessionID: SessionID { SessionID(attributes.sessionId) }

  package func contextKey(of user: UserID) -> ContextKey {
    ContextKey(
      CookSuggestActivityAttributes.contextKey(sessionID: attributes.sessionId, userID: user.text))
  }
}
