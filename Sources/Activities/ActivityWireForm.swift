import Vocabulary

// An activity as events carry it and the store keeps it. Everything is written, absent values as
// null. Read leniently: unknown members are ignored, and only what a push needs is required.
extension Activity: Codable {
  private enum CodingKeys: String, CodingKey {
    case key = "activity_key"
    case attributesType = "attributes_type"
    case attributes, state, rev, recipients, alert
    case alertRev = "alert_rev"
    case staleAt = "stale_date"
    case relevanceScore = "relevance_score"
    case deepLink = "deep_link"
    case expiresAt = "expires_at"
    case dismissAt = "dismissal_date"
    case createdAt = "created_at"
    case updatedAt = "updated_at"
    case endReason = "end_reason"
    case channel
  }

  /// - Throws: `DecodingError` with the field's path.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    key = try fields.decode(ActivityKey.self, forKey: .key)
    guard Self.isKey(key.text) else {
      throw DecodingError.dataCorruptedError(
        forKey: .key, in: fields,
        debugDescription: "\"\(key.text.prefix(40))\" is no activity key")
    }
    attributesType = try fields.decode(String.self, forKey: .attributesType)
    attributes = try fields.decode(JSONValue.self, forKey: .attributes)
    state = try fields.decode(State.self, forKey: .state)
    rev = try fields.decodeRev(forKey: .rev)
    recipients = try fields.decodeList(
      of: Recipient.self, forKey: .recipients, countMax: Self.recipientsEverMax)
    alert = try fields.decodeIfPresent(Alert.self, forKey: .alert)
    alertRev = try fields.decodeIfPresent(Int.self, forKey: .alertRev)
    staleAt = try fields.decodeIfPresent(UnixTime.self, forKey: .staleAt)
    relevanceScore = try fields.decodeIfPresent(Double.self, forKey: .relevanceScore)
    deepLink = try fields.decodeIfPresent(String.self, forKey: .deepLink)
    expiresAt = try fields.decode(UnixTime.self, forKey: .expiresAt)
    dismissAt = try fields.decodeIfPresent(UnixTime.self, forKey: .dismissAt)
    updatedAt = try fields.decode(UnixTime.self, forKey: .updatedAt)
    createdAt = try fields.decodeIfPresent(UnixTime.self, forKey: .createdAt) ?? updatedAt
    endReason = try fields.decodeIfPresent(EndReason.self, forKey: .endReason)
    channel = try fields.decodeIfPresent(ActivityChannel.self, forKey: .channel)
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(key, forKey: .key)
    try fields.encode(attributesType, forKey: .attributesType)
    try fields.encode(attributes, forKey: .attributes)
    try fields.encode(state, forKey: .state)
    try fields.encode(rev, forKey: .rev)
    try fields.encode(recipients, forKey: .recipients)
    try fields.encode(alert, forKey: .alert)
    try fields.encode(alertRev, forKey: .alertRev)
    try fields.encode(staleAt, forKey: .staleAt)
    try fields.encode(relevanceScore, forKey: .relevanceScore)
    try fields.encode(deepLink, forKey: .deepLink)
    try fields.encode(expiresAt, forKey: .expiresAt)
    try fields.encode(dismissAt, forKey: .dismissAt)
    try fields.encode(createdAt, forKey: .createdAt)
    try fields.encode(updatedAt, forKey: .updatedAt)
    try fields.encode(endReason, forKey: .endReason)
    try fields.encode(channel, forKey: .channel)
  }
}

extension Activity.Recipient: Codable {
  private enum CodingKeys: String, CodingKey {
    case userID = "user_id"
    case rev
    case isPresent = "present"
    case contentState = "content_state"
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    userID = try fields.decode(UserID.self, forKey: .userID)
    rev = try fields.decodeRev(forKey: .rev)
    isPresent = try fields.decodeIfPresent(Bool.self, forKey: .isPresent) ?? true
    contentState = try fields.decode(JSONValue.self, forKey: .contentState)
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(userID, forKey: .userID)
    try fields.encode(rev, forKey: .rev)
    try fields.encode(isPresent, forKey: .isPresent)
    try fields.encode(contentState, forKey: .contentState)
  }
}
