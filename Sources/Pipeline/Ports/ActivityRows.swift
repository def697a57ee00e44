import Foundation
import Pushes
import Vocabulary

/// The newest state of one activity: what its phones should show.
///
/// A class, as ``Delivery``: to count a dozen texts anew for each hand that it goes through cost
/// more than what most of them do with it.
package final class ActivityState: Hashable, Sendable {
  package enum Event: String, Codable, Hashable, Sendable { case update, end }

  package let contextKey: ContextKey
  package let sessionID: SessionID
  package let userID: UserID
  package let rev: Int
  package let event: Event
  /// The content state as ActivityKit decodes it: JSON text.
  package let contentState: Data
  package let attributesType: String
  /// Attributes for a push-to-start: JSON text. Nil when this participant's card is not started by
  /// push (the initiator starts its own).
  package let attributes: Data?
  /// The alert that a start must carry; nil with `attributes`.
  package let alertTitle: String?
  package let alertBody: String?
  package let staleAt: UnixTime?
  /// Only with `end`.
  package let dismissAt: UnixTime?
  /// When a push of this state has become pointless.
  package let deadline: UnixTime
  /// When the mutation happened: where critical time starts.
  package let causedAt: UnixTime
  /// W3C `traceparent` of the mutation.
  package let traceparent: String?
  /// Nil when it carries nothing besides.
  package let extras: Extras?

  /// What an activity may carry besides, whichever contract it has. Declared in the order that JSON
  /// is written in, which then need not look for it.
  package struct Extras: Codable, Hashable, Sendable {
    /// The sound of the alert, at the start and wherever it rings; nil makes none.
    package var alertSound: String?
    /// Whether the update of this state rings with the alert of the start too.
    package var alertsOnUpdate: Bool
    /// Members beside `aps`, which the app itself reads.
    package var beside: [String: String]
    /// Which channel the card listens to, or this is the state of.
    package var channel: BroadcastChannel?
    /// Attributes of a card that its own app starts, as JSON text: what can be shown again from a
    /// message alone needs them too. Nil where ``ActivityState/attributes`` holds them.
    package var ownAttributes: String?
    package var relevanceScore: Double?

    package init(
      relevanceScore: Double? = nil, beside: [String: String] = [:], alertsOnUpdate: Bool = false,
      alertSound: String? = nil, ownAttributes: String? = nil, channel: BroadcastChannel? = nil
    ) {
      self.ownAttributes = ownAttributes
      self.relevanceScore = relevanceScore
      self.beside = beside
      self.alertsOnUpdate = alertsOnUpdate
      self.alertSound = alertSound
      self.channel = channel
    }
  }

  package init(
    contextKey: ContextKey, sessionID: SessionID, userID: UserID, rev: Int, event: Event,
    contentState: Data, attributesType: String, attributes: Data?, alertTitle: String?,
    alertBody: String?, staleAt: UnixTime?, dismissAt: UnixTime?, deadline: UnixTime,
    causedAt: UnixTime, traceparent: String?, extras: Extras? = nil
  ) {
    self.contextKey = contextKey
    self.sessionID = sessionID
    self.userID = userID
    self.rev = rev
    self.event = event
    self.contentState = contentState
    self.attributesType = attributesType
    self.attributes = attributes
    self.alertTitle = alertTitle
    self.alertBody = alertBody
    self.staleAt = staleAt
    self.dismissAt = dismissAt
    self.deadline = deadline
    self.causedAt = causedAt
    self.traceparent = traceparent
    self.extras = extras
  }

  package static func == (left: ActivityState, right: ActivityState) -> Bool {
    left === right
      || left.contextKey == right.contextKey && left.sessionID == right.sessionID
        && left.userID == right.userID && left.rev == right.rev && left.event == right.event
        && left.contentState == right.contentState && left.isStarted(as: right)
        && left.staleAt == right.staleAt && left.dismissAt == right.dismissAt
        && left.deadline == right.deadline && left.causedAt == right.causedAt
        && left.traceparent == right.traceparent && left.extras == right.extras
  }

  private func isStarted(as other: ActivityState) -> Bool {
    attributesType == other.attributesType && attributes == other.attributes
      && alertTitle == other.alertTitle && alertBody == other.alertBody
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(contextKey)
    hasher.combine(rev)
  }
}

/// What a phone said about one of its activities, or APNs in its place.
package struct PhoneReport: Hashable, Sendable {
  package enum State: String, Codable, Hashable, Sendable {
    case active, stale, ended, dismissed
    /// The last update token of the activity is dead: APNs answered 410. No phone says this of
    /// itself; what a phone reports later takes its place.
    case gone
  }

  package let contextKey: ContextKey
  package let userID: UserID
  package let state: State
  package let rev: Int?
  package let reportedAt: UnixTime

  package init(
    contextKey: ContextKey, userID: UserID, state: State, rev: Int?, reportedAt: UnixTime
  ) {
    self.contextKey = contextKey
    self.userID = userID
    self.state = state
    self.rev = rev
    self.reportedAt = reportedAt
  }
}

package protocol ActivityRows {
  func activityStates(_ contexts: [ContextKey]) throws -> [ContextKey: ActivityState]
  /// Those of the user that have not ended.
  func liveActivityStates(of user: UserID) throws -> [ActivityState]
  /// Inserts or replaces.
  func save(_ states: [ActivityState]) throws
  /// Keeps the report, also in the history. Once `dismissed` was reported for a context it stays
  /// so, and what `ended` is not `gone`.
  func save(_ report: PhoneReport) throws
  /// Those of `contexts` whose phone reported `dismissed`.
  func dismissed(among contexts: [ContextKey]) throws -> Set<ContextKey>
  /// The context of a registered activity id of this user; nil when unknown.
  func contextKey(ofActivity activityID: String, of user: UserID) throws -> ContextKey?
}
