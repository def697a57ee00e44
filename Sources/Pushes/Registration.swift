import Vocabulary

/// One row of the token registry: what a phone told us about one of its tokens.
///
/// A row is (user, token, kind, attributes type). A new token replaces the old one of the same
/// (user, device, bundle, kind, activity id or context key, attributes type); without a device id
/// nothing is replaced.
package struct Registration: Hashable, Sendable {
  package let userID: UserID
  package let token: PushToken
  package let kind: TokenKind
  /// Which activity an update token belongs to; nil for the other kinds.
  package var contextKey: ContextKey?
  package var activityID: String?
  package var attributesType: String?
  package var environment: PushEnvironment
  /// Nil: the configured bundle.
  package var bundleID: String?
  package var deviceID: String?
  /// What ActivityKit's `frequentPushesEnabled` said; nil when the phone did not report it.
  package var frequentPushesEnabled: Bool?
  package var registeredAt: UnixTime
  /// When APNs first accepted a push to it in this environment; nil while unproven.
  package var provenAt: UnixTime?

  package init(
    userID: UserID, token: PushToken, kind: TokenKind, contextKey: ContextKey? = nil,
    activityID: String? = nil, attributesType: String? = nil,
    environment: PushEnvironment = .production, bundleID: String? = nil, deviceID: String? = nil,
    frequentPushesEnabled: Bool? = nil, registeredAt: UnixTime, provenAt: UnixTime? = nil
  ) {
    self.userID = userID
    self.token = token
    self.kind = kind
    self.contextKey = contextKey
    self.activityID = activityID
    self.attributesType = attributesType
    self.environment = environment
    self.bundleID = bundleID
    self.deviceID = deviceID
    self.frequentPushesEnabled = frequentPushesEnabled
    self.registeredAt = registeredAt
    self.provenAt = provenAt
  }
}

extension Registration {
  /// Whether it is stored in the place of `old`: in the same row, or with another token of the same
  /// device or card.
  package func takesPlace(of old: Registration) -> Bool { isSameRow(as: old) || replaces(old) }

  package func isSameRow(as other: Registration) -> Bool {
    token == other.token && userID == other.userID && kind == other.kind
      && (attributesType ?? "") == (other.attributesType ?? "")
  }

  package func replaces(_ old: Registration) -> Bool {
    guard userID == old.userID, kind == old.kind, token != old.token, let deviceID,
      deviceID == old.deviceID, bundleID == old.bundleID, attributesType == old.attributesType
    else { return false }
    guard kind == .update else { return true }
    // Two cards of one context: a start that went out twice made them.
    if let activityID, let oldID = old.activityID { return activityID == oldID }
    guard let contextKey, let oldKey = old.contextKey else { return false }
    return contextKey == oldKey
  }
}
