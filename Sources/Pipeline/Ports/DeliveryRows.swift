import Pushes
import Vocabulary

/// One attempt to deliver one job, or why there was none: what `lockstep explain` reads.
package struct DeliveryRecord: Hashable, Sendable {
  /// What was done about the attempt.
  package enum Consequence: String, Codable, Hashable, Sendable, CaseIterable {
    case accepted
    /// The token was marked as dead.
    case pruned
    /// The token would have been, but was registered again since, or is gone already.
    case kept
    /// Sent again at once: the job is still in hand.
    case again
    /// Waits on the ladder.
    case retried
    case dead
    /// Waits in hand until the lane closes.
    case laneOpened = "lane_opened"
    // Not sent.
    case superseded, expired, stale
  }

  /// The job's id, also its `apns-id`.
  package let jobID: String
  package let sessionID: SessionID
  package let userID: UserID
  package let contextKey: ContextKey?
  package let rev: Int
  package let tokenFingerprint: String
  /// `start`, `update`, `end`, `alert` or `resolve`.
  package let event: String
  /// Of the answer; nil without one.
  package let status: Int?
  /// The answer's reason, why there was no answer, or why nothing was sent.
  package let reason: String?
  /// Counts the visits to the sender, from 1.
  package let attempt: Int
  package let causedAt: UnixTime
  package let settledAt: UnixTime
  /// False when the sender decided not to send it: `reason` says why.
  package let wasSent: Bool
  /// Nil in records that do not say.
  package let consequence: Consequence?

  package init(
    jobID: String, sessionID: SessionID, userID: UserID, contextKey: ContextKey?, rev: Int,
    tokenFingerprint: String, event: String, status: Int?, reason: String?, attempt: Int,
    causedAt: UnixTime, settledAt: UnixTime, wasSent: Bool = true,
    consequence: Consequence? = nil
  ) {
    self.jobID = jobID
    self.sessionID = sessionID
    self.userID = userID
    self.contextKey = contextKey
    self.rev = rev
    self.tokenFingerprint = tokenFingerprint
    self.event = event
    self.status = status
    self.reason = reason
    self.attempt = attempt
    self.causedAt = causedAt
    self.settledAt = settledAt
    self.wasSent = wasSent
    self.consequence = consequence
  }
}

/// A token, and the activity that is pushed to it, as the store knows them.
package struct PushStanding: Hashable, Sendable {
  /// The token's rows that are not pruned, the oldest first.
  package var registrations: [Registration]
  /// The newest rev that APNs accepted for the token; nil when none, or when nobody has registered
  /// it.
  package var deliveredRev: Int?
  /// The rev of the activity's newest state; nil when none is known, no activity was asked for, or
  /// nobody has registered the token.
  package var newestRev: Int?
  /// Where the store keeps the token's only row, see ``AcceptedRev/place``; nil when it has several
  /// or none, or the store has no need of it.
  package var place: Int64?

  package init(
    registrations: [Registration] = [], deliveredRev: Int? = nil, newestRev: Int? = nil,
    place: Int64? = nil
  ) {
    self.registrations = registrations
    self.deliveredRev = deliveredRev
    self.newestRev = newestRev
    self.place = place
  }
}

/// A rev that APNs accepted for a token.
package struct AcceptedRev: Hashable, Sendable {
  package let token: PushToken
  package let rev: Int
  /// A hint, as ``PushStanding/place`` said before the push: the store need not search for the
  /// token. Where another row is by now, it searches.
  package let place: Int64?

  package init(token: PushToken, rev: Int, place: Int64? = nil) {
    self.token = token
    self.rev = rev
    self.place = place
  }
}

package protocol DeliveryRows {
  func save(_ records: [DeliveryRecord]) throws
  /// The attempts of one session, oldest first.
  func deliveries(of session: SessionID) throws -> [DeliveryRecord]
  /// What must be known of each push before it goes out, in the order asked.
  func standings(of pushes: [(token: PushToken, context: ContextKey?)]) throws -> [PushStanding]
  /// Raises ``PushStanding/deliveredRev``; an older rev changes nothing. No token twice.
  ///
  /// - Returns: for each, in the order given, the newest rev that APNs accepted for the token, its
  ///   own included; nil when nobody has registered it.
  func raiseDeliveredRevs(_ accepted: [AcceptedRev]) throws -> [Int?]
  /// Takes back what is known to be delivered, so that the newest state may go out once more.
  func forgetDeliveredRev(of token: PushToken) throws
  /// Those of these jobs that were accepted by their records: status 200, or 201 and 202 of Web
  /// Push. Starts, updates and ends are left out: of those the rev decides what goes out again.
  func acceptedJobs(among ids: [String]) throws -> Set<String>
  /// Those of these jobs of which an attempt was sent and had no answer: whether it arrived nobody
  /// knows.
  func unansweredJobs(among ids: [String]) throws -> Set<String>
  /// Removes records settled before `moment`, at most `limit` of them.
  ///
  /// - Returns: how many went.
  func removeDeliveries(settledBefore moment: UnixTime, limit: Int) throws -> Int
}
