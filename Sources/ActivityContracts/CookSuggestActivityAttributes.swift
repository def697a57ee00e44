/// What the Live Activity of a cook session is started with. Never changes afterwards.
///
/// Server and widget compile this same type, so they cannot drift. Every key is always written;
/// what is absent is JSON `null`.
public struct CookSuggestActivityAttributes: Codable, Hashable, Sendable {
  /// The `attributes-type` of a start: the name ActivityKit looks this type up by.
  public static let activityType = "CookSuggestActivityAttributes"

  /// `cs_…`.
  public var sessionId: String
  /// The day that is planned, `YYYY-MM-DD`.
  public var date: String
  /// The other participant, seen from this device; nil when there is none.
  public var partnerName: String?
  public var partnerTint: String?
  public var partnerEmoji: String?

  public init(
    sessionId: String, date: String, partnerName: String?, partnerTint: String?,
    partnerEmoji: String?
  ) {
    self.sessionId = sessionId
    self.date = date
    self.partnerName = partnerName
    self.partnerTint = partnerTint
    self.partnerEmoji = partnerEmoji
  }

  /// Names one participant's card of one session. The app registers its update token with it, so
  /// that each side gets the state seen from that side.
  public static func contextKey(sessionID: String, userID: String) -> String {
    "cooksuggest:\(sessionID):\(userID)"
  }

  /// Writes the keys in their order, which JSON with sorted keys then need not look for.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(date, forKey: .date)
    try container.encode(partnerEmoji, forKey: .partnerEmoji)
    try container.encode(partnerName, forKey: .partnerName)
    try container.encode(partnerTint, forKey: .partnerTint)
    try container.encode(sessionId, forKey: .sessionId)
  }
}
