import Sessions
import Vocabulary

/// What one user is told, once, on every channel that the user has. Several notices with one dedupe
/// key and user are the same notice, at different times.
package struct Notice: Sendable {
  package struct Text: Hashable, Sendable {
    package let title: String
    package let body: String

    package init(title: String, body: String) {
      self.title = title
      self.body = body
    }
  }

  package enum Standing: Hashable, Sendable {
    /// Still true. Always in the inbox; `alerts`: devices and browsers are told too.
    case open(alerts: Bool)
    /// Over for good, for everybody who has one with this dedupe key.
    case resolved(because: String)
  }

  package let userID: UserID
  /// Unique with the user: what is told under one key is told once.
  package let dedupeKey: String
  package let icon: String
  /// Path within the app and the web origin.
  package let link: String
  package let text: @Sendable (Language) -> Text
  package let standing: Standing
  /// When it has become pointless to deliver.
  package let expiresAt: UnixTime
  package let sessionID: SessionID
  /// Of the session, when this was said.
  package let rev: Int

  package init(
    userID: UserID, dedupeKey: String, icon: String, link: String, standing: Standing,
    expiresAt: UnixTime, sessionID: SessionID, rev: Int,
    text: @escaping @Sendable (Language) -> Text
  ) {
    self.userID = userID
    self.dedupeKey = dedupeKey
    self.icon = icon
    self.link = link
    self.text = text
    self.standing = standing
    self.expiresAt = expiresAt
    self.sessionID = sessionID
    self.rev = rev
  }
}

/// One kind of notification. A new one is a file like `InvitationNotices.swift` beside this one,
/// and its name in ``all``: inbox, alert push, Web Push and taking back come from ``Notifier``.
package struct NotificationType: Sendable {
  /// The record's `type`.
  package let name: String
  /// What an event says about notifications of this type: who has one, and whether it still stands.
  /// Pure; empty when the event has nothing to do with it.
  package let notices: @Sendable (Event) -> [Notice]

  package init(name: String, notices: @escaping @Sendable (Event) -> [Notice]) {
    self.name = name
    self.notices = notices
  }

  package static let all: [NotificationType] = [.invitation]
}
