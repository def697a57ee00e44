import Vocabulary

/// A browser as the control API and the page show it.
struct BrowserView: Encodable {
  struct NotificationView: Encodable {
    let title: String
    let body: String
    let navigate: String
    let icon: String?
    let dataIcon: String?
    let tag: String?
    let dedupeKey: String?
    let topic: String?
    let urgency: String
    let ttl: Int64
    /// What was decrypted.
    let payload: JSONValue
    let shownAt: UnixTime

    enum CodingKeys: String, CodingKey {
      case title, body, navigate, icon, tag, topic, urgency, ttl, payload
      case dataIcon = "data_icon"
      case dedupeKey = "dedupe_key"
      case shownAt = "shown_at"
    }

    init(_ shown: WebNotification) {
      title = shown.content.title
      body = shown.content.body
      navigate = shown.content.navigate
      icon = shown.content.icon
      tag = shown.content.tag
      dedupeKey = shown.content.dedupeKey
      topic = shown.topic
      urgency = shown.urgency
      ttl = shown.ttl
      payload = shown.content.json
      shownAt = shown.shownAt
      if case .string(let icon)? = payload["notification"]?["data"]?["icon"] {
        dataIcon = icon
      } else {
        dataIcon = nil
      }
    }
  }

  let id: String
  let userID: UserID
  let name: String
  let online: Bool
  let subscribed: Bool
  /// How many pushes its service keeps for it.
  let held: Int
  /// Newest first.
  let notifications: [NotificationView]
  /// Absent for a browser without one.
  let bell: BellView?
  let counts: BrowserCounts

  enum CodingKeys: String, CodingKey {
    case id, name, online, subscribed, held, notifications, bell, counts
    case userID = "user_id"
  }

  init(_ browser: VirtualBrowser) {
    id = browser.identity.id
    userID = browser.identity.userID
    name = browser.identity.name
    online = browser.isOnline
    subscribed = browser.isSubscribed
    held = browser.held.count
    notifications = browser.shown.map { NotificationView($0) }
    bell = browser.inbox.map { BellView($0) }
    counts = browser.counts
  }
}
