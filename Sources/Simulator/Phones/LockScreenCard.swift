import Activities
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
  /// Lower-case digits; APNs makes a new one for each activity, and sometimes another later.
  package internal(set) var updateToken: String
  /// The channel that it listens to instead; nil when its token is registered.
  package let channelID: String?
  package let origin: Origin
  /// Which contract its app has.
  package let attributesType: String
  /// As the app decoded them.
  package let attributes: JSONValue
  /// As the app decoded it.
  package internal(set) var contentState: JSONValue
  /// What its app registers the update token with; nil when the app cannot tell.
  package let contextKey: ContextKey?
  /// What it is the card of: the cook session, or what APNs would take for the same start.
  package let sessionID: SessionID
  /// The newest `aps.timestamp` shown, Unix seconds.
  package internal(set) var timestamp: Int64
  package internal(set) var standing: Standing
  package internal(set) var staleAt: UnixTime?
  package internal(set) var dismissAt: UnixTime?
  package let startedAt: UnixTime
  package internal(set) var changedAt: UnixTime

  /// Nil for a contract without one: then only the stamps tell which state is newer.
  package var rev: Int? {
    guard case .integer(let rev)? = contentState["rev"] else { return nil }
    return Int(exactly: rev)
  }
}

/// The contract that a phone's app was compiled with.
package struct InstalledContract: Hashable, Sendable {
  package let contract: any ActivityContract

  package init(_ contract: any ActivityContract) { self.contract = contract }

  package var attributesType: String { contract.attributesType }
  /// Whether the app learns nothing of a card but its id and token, and speaks in Shiny's words.
  var isShiny: Bool { contract is ShinyContract }

  package static func == (left: Self, right: Self) -> Bool {
    left.attributesType == right.attributesType
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(attributesType) }
}
