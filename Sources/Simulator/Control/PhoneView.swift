import Vocabulary

/// A phone as the control API and the page show it.
struct PhoneView: Encodable {
  struct Card: Encodable {
    let activityID: String
    let origin: LockScreenCard.Origin
    let standing: LockScreenCard.Standing
    let attributesType: String
    let attributes: JSONValue
    let contentState: JSONValue
    let startedAt: UnixTime
    let changedAt: UnixTime
    let staleAt: UnixTime?
    let dismissAt: UnixTime?

    enum CodingKeys: String, CodingKey {
      case activityID = "activity_id"
      case origin, standing, attributes
      case attributesType = "attributes_type"
      case contentState = "content_state"
      case startedAt = "started_at"
      case changedAt = "changed_at"
      case staleAt = "stale_at"
      case dismissAt = "dismiss_at"
    }

    init(_ card: LockScreenCard) {
      activityID = card.activityID
      origin = card.origin
      standing = card.standing
      attributesType = card.attributesType
      attributes = card.attributes
      contentState = card.contentState
      startedAt = card.startedAt
      changedAt = card.changedAt
      staleAt = card.staleAt
      dismissAt = card.dismissAt
    }
  }

  struct BannerView: Encodable {
    let title: String
    let body: String
    let link: String?
    let collapseID: String?
    let dedupeKey: String?
    let sound: Bool
    let shownAt: UnixTime

    enum CodingKeys: String, CodingKey {
      case title, body, link, sound
      case collapseID = "collapse_id"
      case dedupeKey = "dedupe_key"
      case shownAt = "shown_at"
    }
  }

  let id: String
  let userID: UserID
  let name: String
  let environment: APNsEnvironment
  let online: Bool
  let installed: Bool
  /// Whether APNs keeps a push for it.
  let held: Bool
  /// Newest first; `all` adds those that are gone from the Lock Screen.
  let cards: [Card]
  let banners: [BannerView]
  /// Absent for a phone without one.
  let bell: BellView?
  let counts: PhoneCounts

  enum CodingKeys: String, CodingKey {
    case id, name, environment, online, installed, held, cards, banners, bell, counts
    case userID = "user_id"
  }

  init(_ phone: VirtualPhone, all: Bool = false) {
    id = phone.identity.id
    userID = phone.identity.userID
    name = phone.identity.name
    environment = phone.identity.environment
    online = phone.isOnline
    installed = phone.isInstalled
    held = phone.held != nil
    cards = phone.cards.reversed().filter { all || $0.standing.isShown }.map { Card($0) }
    banners = phone.banners.map {
      BannerView(
        title: $0.title, body: $0.body, link: $0.link, collapseID: $0.collapseID,
        dedupeKey: $0.dedupeKey, sound: $0.hasSound, shownAt: $0.shownAt)
    }
    bell = phone.inbox.map { BellView($0) }
    counts = phone.counts
  }
}

/// A bell as the control API and the page show it.
struct BellView: Encodable {
  let unread: Int
  /// Newest first.
  let notifications: [Inbox.Entry]

  init(_ inbox: Inbox) {
    unread = inbox.unread
    notifications = inbox.entries
  }
}
