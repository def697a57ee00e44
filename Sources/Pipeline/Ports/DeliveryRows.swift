import Pushes
import Vocabulary

/// One attempt to deliver one job: what `lockstep explain` reads.
package struct DeliveryRecord: Hashable, Sendable {
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

  package init(
    jobID: String, sessionID: SessionID, userID: UserID, contextKey: ContextKey?, rev: Int,
    tokenFingerprint: String, event: String, status: Int?, reason: String?, attempt: Int,
    causedAt: UnixTime, settledAt: UnixTime
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
  }
}

package protocol DeliveryRows {
  func save(_ records: [DeliveryRecord]) throws
  /// The attempts of one session, oldest first.
  func deliveries(of session: SessionID) throws -> [DeliveryRecord]
  /// The newest rev that APNs accepted for each of these update tokens.
  func deliveredRevs(to tokens: [PushToken]) throws -> [PushToken: Int]
  /// Raises what ``deliveredRevs(to:)`` answers; an older rev changes nothing.
  func raiseDeliveredRev(to rev: Int, token: PushToken) throws
  /// Those of these jobs that were accepted by their records: status 200, or 201 and 202 of Web
  /// Push.
  func acceptedJobs(among ids: [String]) throws -> Set<String>
  /// Those of these jobs of which an attempt had no answer: whether it arrived nobody knows.
  func unansweredJobs(among ids: [String]) throws -> Set<String>
  /// Removes records settled before `moment`, at most `limit` of them.
  ///
  /// - Returns: how many went.
  func removeDeliveries(settledBefore moment: UnixTime, limit: Int) throws -> Int
}
