import Activities
import HTTPServing
import Pipeline
import Pushes
import Vocabulary

/// An activity in an answer to the program that drives it.
struct ActivityAnswer: Encodable {
  private let activity: Activity
  /// Nil in the answer to a mutation: nothing of it has reached a phone yet.
  private let phones: PhonesOfActivity?

  init(_ activity: Activity, phones: PhonesOfActivity? = nil) {
    self.activity = activity
    self.phones = phones
  }

  private enum CodingKeys: String, CodingKey { case recipients }

  func encode(to encoder: any Encoder) throws {
    try activity.encode(to: encoder)
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(
      activity.recipients.map { recipient in
        let context = activity.contextKey(of: recipient.userID)
        return RecipientAnswer(
          recipient, context: context, hasEnded: activity.state == .ended,
          phones: phones?.phones(of: context))
      }, forKey: .recipients)
  }

  func response(_ status: Int = 200) -> HTTPResponse {
    HTTPResponse(
      status: status,
      headers: [
        ("content-type", "application/json"), ("etag", Conditions.tag(rev: activity.rev)),
        ("cache-control", "private, no-cache"),
      ],
      body: JSON.encoded(self))
  }
}

/// One recipient, and what is known of its phones.
private struct RecipientAnswer: Encodable {
  let userID: UserID
  let contextKey: ContextKey
  let state: Activity.State
  let rev: Int
  let contentState: JSONValue
  let phones: PhonesOfActivity.Phones?

  init(
    _ recipient: Activity.Recipient, context: ContextKey, hasEnded: Bool,
    phones: PhonesOfActivity.Phones?
  ) {
    userID = recipient.userID
    contextKey = context
    state = hasEnded || !recipient.isPresent ? .ended : .live
    rev = recipient.rev
    contentState = recipient.contentState
    self.phones = phones
  }

  enum CodingKeys: String, CodingKey {
    case userID = "user_id"
    case contextKey = "context_key"
    case state, rev
    case contentState = "content_state"
  }

  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(userID, forKey: .userID)
    try members.encode(contextKey, forKey: .contextKey)
    try members.encode(state, forKey: .state)
    try members.encode(rev, forKey: .rev)
    try members.encode(contentState, forKey: .contentState)
    try phones?.encode(to: encoder)
  }
}

/// What reached the phones of an activity, and what they said.
struct PhonesOfActivity {
  /// Of one recipient.
  struct Phones: Encodable {
    /// Whether a card is known to be on a phone: APNs accepted a start, a token came, or FCM took a
    /// message.
    let started: Bool
    /// When APNs first accepted a start; nil when no card was started by push.
    let startedAt: UnixTime?
    /// Fingerprints of its update tokens.
    let boundTokens: [String]
    /// Fingerprints of the user's Android phones.
    let androidPhones: [String]
    /// The newest that APNs or FCM has taken; nil when nothing was.
    let lastDeliveredRev: Int?
    let lastReportedRev: Int?
    /// `active`, `stale`, `ended`, `dismissed` or `gone`.
    let reportedState: PhoneReport.State?

    enum CodingKeys: String, CodingKey {
      case started
      case startedAt = "started_at"
      case boundTokens = "bound_tokens"
      case androidPhones = "android_phones"
      case lastDeliveredRev = "last_delivered_rev"
      case lastReportedRev = "last_reported_rev"
      case reportedState = "reported_state"
    }

    func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(started, forKey: .started)
      try members.encode(startedAt, forKey: .startedAt)
      try members.encode(boundTokens, forKey: .boundTokens)
      try members.encode(androidPhones, forKey: .androidPhones)
      try members.encode(lastDeliveredRev, forKey: .lastDeliveredRev)
      try members.encode(lastReportedRev, forKey: .lastReportedRev)
      try members.encode(reportedState, forKey: .reportedState)
    }
  }

  private let starts: [ContextKey: [Start]]
  private let tokens: [ContextKey: [Registration]]
  private let delivered: [PushToken: Int]
  /// Fingerprint and the newest rev that FCM has taken, of each Android phone.
  private let androids: [ContextKey: [(fingerprint: String, delivered: Int?)]]
  private let reports: [ContextKey: [PhoneReport]]

  init(_ activity: Activity, in rows: any StoreTransaction) throws {
    let contexts = activity.recipients.map { activity.contextKey(of: $0.userID) }
    let phones = try rows.fcmRegistrations(of: activity.recipients.map(\.userID))
    androids = try activity.recipients.reduce(into: [:]) { androids, recipient in
      let context = activity.contextKey(of: recipient.userID)
      androids[context] = try (phones[recipient.userID] ?? []).map { phone in
        let delivered = try rows.deliveredRev(of: context, to: phone.token) ?? 0
        return (phone.token.fingerprint, delivered > 0 ? delivered : nil)
      }
    }
    starts = Dictionary(grouping: try rows.starts(of: [activity.sessionID]), by: \.contextKey)
    tokens = try rows.updateTokens(of: contexts)
    let bound = tokens.values.flatMap { $0.map(\.token) }
    let standings = try rows.standings(of: bound.map { ($0, nil) })
    delivered = zip(bound, standings).reduce(into: [:]) { $0[$1.0] = $1.1.deliveredRev }
    reports = Dictionary(grouping: try rows.reports(of: contexts), by: \.contextKey)
  }

  func phones(of context: ContextKey) -> Phones {
    let tokens = tokens[context] ?? []
    let startedAt = (starts[context] ?? []).compactMap(\.acceptedAt).min()
    let reports = reports[context] ?? []
    let androids = androids[context] ?? []
    let taken = androids.compactMap(\.delivered)
    return Phones(
      started: startedAt != nil || !tokens.isEmpty || !taken.isEmpty, startedAt: startedAt,
      boundTokens: tokens.map(\.token.fingerprint),
      androidPhones: androids.map(\.fingerprint),
      lastDeliveredRev: (tokens.compactMap { delivered[$0.token] } + taken).max(),
      lastReportedRev: reports.compactMap(\.rev).last, reportedState: reports.last?.state)
  }
}

/// An activity as one of its recipients may see it: its own card and nothing of others.
struct OwnActivity: Encodable {
  private let activity: Activity
  private let recipient: Activity.Recipient

  /// Nil when the user has no card of it.
  init?(_ activity: Activity, of user: UserID) {
    guard let recipient = activity.recipient(user) else { return nil }
    self.activity = activity
    self.recipient = recipient
  }

  private enum CodingKeys: String, CodingKey {
    case key = "activity_key"
    case contextKey = "context_key"
    case attributesType = "attributes_type"
    case attributes, state, rev
    case contentState = "content_state"
    case deepLink = "deep_link"
    case updatedAt = "updated_at"
    case expiresAt = "expires_at"
  }

  func encode(to encoder: any Encoder) throws {
    let hasEnded = activity.state == .ended || !recipient.isPresent
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(activity.key, forKey: .key)
    try members.encode(activity.contextKey(of: recipient.userID), forKey: .contextKey)
    try members.encode(activity.attributesType, forKey: .attributesType)
    try members.encode(activity.attributes, forKey: .attributes)
    try members.encode(hasEnded ? Activity.State.ended : .live, forKey: .state)
    try members.encode(recipient.rev, forKey: .rev)
    try members.encode(recipient.contentState, forKey: .contentState)
    try members.encode(activity.deepLink, forKey: .deepLink)
    try members.encode(activity.updatedAt, forKey: .updatedAt)
    try members.encode(activity.expiresAt, forKey: .expiresAt)
  }
}
