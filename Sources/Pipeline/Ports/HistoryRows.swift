import Activities
import Sessions
import Vocabulary

/// One accepted mutation of a session: who did what, and which event tells of it.
package struct MutationRecord: Hashable, Sendable {
  package let sessionID: SessionID
  /// The session's rev after it.
  package let rev: Int
  /// `cause.mutation` of the event.
  package let mutation: String
  /// Nil for the kitchen and the clock.
  package let userID: UserID?
  package let eventID: EventID
  package let eventType: String
  package let acceptedAt: UnixTime

  package init(
    sessionID: SessionID, rev: Int, mutation: String, userID: UserID?, eventID: EventID,
    eventType: String, acceptedAt: UnixTime
  ) {
    self.sessionID = sessionID
    self.rev = rev
    self.mutation = mutation
    self.userID = userID
    self.eventID = eventID
    self.eventType = eventType
    self.acceptedAt = acceptedAt
  }

  /// `event`: the one that tells of `change`, which `user` made; nil: the clock.
  package init(_ change: ActivityChange, by user: UserID?, event: OutboxEvent) {
    self.init(
      sessionID: change.activity.sessionID, rev: change.activity.rev,
      mutation: change.mutationName, userID: user, eventID: EventID(event.message.id),
      eventType: event.message.type, acceptedAt: event.storedAt)
  }

  /// `event`: the one that tells of `change`.
  package init(_ change: Change, event: OutboxEvent) {
    self.init(
      sessionID: change.session.id, rev: change.session.rev, mutation: change.mutationName,
      userID: change.actor, eventID: EventID(event.message.id), eventType: event.message.type,
      acceptedAt: event.storedAt)
  }
}

/// What the builder did about one event for one participant.
package struct BuildRecord: Hashable, Sendable {
  package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
    /// This rev is the newest now.
    case stored
    /// It was the newest already: the same jobs were made again.
    case repeated
    /// A newer rev was known.
    case stale
    /// The event's deadline had passed.
    case expired
    /// A token registered late: jobs for what it had missed.
    case late
    /// The push fits no payload; the event went to the dead queue.
    case dead
  }

  package let sessionID: SessionID
  package let userID: UserID
  package let contextKey: ContextKey
  package let rev: Int
  package let outcome: Outcome
  /// Jobs for update tokens.
  package let updateJobs: Int
  /// Jobs for push-to-start tokens.
  package let startJobs: Int
  /// Messages for Android phones.
  package let fcmJobs: Int
  /// Why there is no start, or what else is to be said; in words. Nil: nothing.
  package let reason: String?
  package let builtAt: UnixTime

  package init(
    sessionID: SessionID, userID: UserID, contextKey: ContextKey, rev: Int, outcome: Outcome,
    updateJobs: Int = 0, startJobs: Int = 0, fcmJobs: Int = 0, reason: String? = nil,
    builtAt: UnixTime
  ) {
    self.sessionID = sessionID
    self.userID = userID
    self.contextKey = contextKey
    self.rev = rev
    self.outcome = outcome
    self.updateJobs = updateJobs
    self.startJobs = startJobs
    self.fcmJobs = fcmJobs
    self.reason = reason
    self.builtAt = builtAt
  }
}

/// What happened, kept for `lockstep explain` beside ``DeliveryRows``; removed when it is old.
package protocol HistoryRows {
  /// A rev that is recorded already stays as it is.
  func save(_ mutation: MutationRecord) throws
  /// By rev.
  func mutations(of session: SessionID) throws -> [MutationRecord]
  func save(_ builds: [BuildRecord]) throws
  /// Oldest first.
  func builds(of session: SessionID) throws -> [BuildRecord]
  /// What the phones of these activities said, oldest first: the newest ``PhoneReport/keptMax`` of
  /// each.
  func reports(of contexts: [ContextKey]) throws -> [PhoneReport]
  /// Those of these events that wait in the outbox.
  func unpublished(among events: [EventID]) throws -> Set<EventID>
  /// Removes mutations, builds and phone reports from before `moment`, at most `limit` of each.
  ///
  /// - Returns: how many went.
  func removeHistory(before moment: UnixTime, limit: Int) throws -> Int
}

extension PhoneReport {
  /// Reports kept of one activity; a phone may send as many as it likes.
  package static let keptMax = 50
}
