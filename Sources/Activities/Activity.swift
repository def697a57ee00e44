import Vocabulary

package enum ActivityKind {}
/// Names one activity, as the program that drives it chose: letters, digits, `.`, `_`, `~`, `-`.
package typealias ActivityKey = Identifier<ActivityKind>

/// One activity that a program drives through the API: who has a card of it, and what each card
/// shows. The whole truth about it; what a phone got of it is another matter.
///
/// A cook session is the same thing with a state machine of its own in front.
package struct Activity: Hashable, Sendable {
  package enum State: String, Codable, Hashable, Sendable, CaseIterable { case live, ended }
  package enum EndReason: String, Codable, Hashable, Sendable, CaseIterable { case ended, ttl }

  package let key: ActivityKey
  /// Which contract it was checked by.
  package let attributesType: String
  /// In the form that is sent.
  package let attributes: JSONValue
  package internal(set) var state: State
  /// Counts the mutations that changed anything, from 1.
  package internal(set) var rev: Int
  /// In the order they came; those whose card was taken away stay in the list.
  package internal(set) var recipients: [Recipient]
  /// Of the newest mutation that had one. Nil: a start takes words of its content state.
  package internal(set) var alert: Alert?
  /// The rev whose update rings with ``alert`` too; nil: only a start does.
  package internal(set) var alertRev: Int?
  package internal(set) var staleAt: UnixTime?
  /// Which of one app's activities comes first; any finite number.
  package internal(set) var relevanceScore: Double?
  /// Where a tap leads.
  package internal(set) var deepLink: String?
  package internal(set) var expiresAt: UnixTime
  /// When an ended card goes away; nil lets the system decide, up to four hours.
  package internal(set) var dismissAt: UnixTime?
  package let createdAt: UnixTime
  package internal(set) var updatedAt: UnixTime
  package internal(set) var endReason: EndReason?
  /// Nil: each card has pushes of its own.
  package internal(set) var channel: ActivityChannel?

  /// Somebody's card of it, on all phones of that user.
  package struct Recipient: Hashable, Sendable {
    package let userID: UserID
    /// The activity's rev with which this card changed last.
    package internal(set) var rev: Int
    /// False once its card was taken away; it does not come back.
    package internal(set) var isPresent: Bool
    /// In the form that is sent.
    package internal(set) var contentState: JSONValue
  }

  /// Words that light the screen up.
  package struct Alert: Hashable, Sendable, Codable {
    package let title: String
    package let body: String
    /// A sound file of the app, or `default`; nil makes none.
    package let sound: String?

    package init(title: String, body: String, sound: String? = nil) {
      self.title = title
      self.body = body
      self.sound = sound
    }
  }
}

extension Activity {
  private static let contextPrefix = "activity:"
  /// In bytes; also the longest part of a path.
  package static let keyBytesMax = 128

  /// Whether a text may name an activity: without a colon, so that a context key reads one way.
  package static func isKey(_ text: String) -> Bool {
    (1...keyBytesMax).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || [45, 46, 95, 126].contains(byte)
      }
  }

  /// `activity:{activity_key}:{user_id}`: names one user's card.
  package static func contextKey(of key: ActivityKey, user: UserID) -> ContextKey {
    ContextKey("\(contextPrefix)\(key):\(user)")
  }

  /// The activity of a context key; nil when it names another user's card, or none of an activity.
  package static func key(of context: ContextKey, user: UserID) -> ActivityKey? {
    guard context.text.hasPrefix(contextPrefix) else { return nil }
    let key = context.text.dropFirst(contextPrefix.count).prefix { $0 != ":" }
    guard isKey(String(key)), context == contextKey(of: ActivityKey(String(key)), user: user) else {
      return nil
    }
    return ActivityKey(String(key))
  }

  /// What starts, jobs and records know it by: as a session.
  package var sessionID: SessionID { Self.sessionID(of: key) }

  package static func sessionID(of key: ActivityKey) -> SessionID {
    SessionID("\(contextPrefix)\(key)")
  }

  package func contextKey(of user: UserID) -> ContextKey { Self.contextKey(of: key, user: user) }

  /// Nil for a user who never had a card of it.
  package func recipient(_ user: UserID) -> Recipient? { recipients.first { $0.userID == user } }
}
