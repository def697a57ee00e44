import Pushes
import Vocabulary

/// One push-to-start: at most one per (session, token).
package struct Start: Hashable, Sendable {
  /// How soon a phone is heard of once APNs accepted a start: iOS wakes the app to register the
  /// card's update token. Silence beyond it makes the push-to-start token suspect, no more: an app
  /// that was forced to quit is not woken, and an iOS update was seen to let the token die while
  /// APNs went on to take it.
  package static let heardOfWithin: Duration = .seconds(600)

  package let sessionID: SessionID
  package let token: PushToken
  package let contextKey: ContextKey
  package let firstAskedAt: UnixTime
  /// While a sender holds it, until when.
  package var claimedUntil: UnixTime?
  package var acceptedAt: UnixTime?

  package init(
    sessionID: SessionID, token: PushToken, contextKey: ContextKey, firstAskedAt: UnixTime,
    claimedUntil: UnixTime? = nil, acceptedAt: UnixTime? = nil
  ) {
    self.sessionID = sessionID
    self.token = token
    self.contextKey = contextKey
    self.firstAskedAt = firstAskedAt
    self.claimedUntil = claimedUntil
    self.acceptedAt = acceptedAt
  }
}

/// The table `la_starts`.
package protocol StartRows {
  /// The starts of these sessions, accepted or not.
  func starts(of sessions: [SessionID]) throws -> [Start]
  /// Inserts; an existing row stays as it is.
  func save(_ start: Start) throws
  /// One row; nil when no start was ever asked for.
  func start(of session: SessionID, token: PushToken) throws -> Start?
  /// Sets who holds it: `until` nil gives it free.
  func claimStart(of session: SessionID, token: PushToken, until: UnixTime?) throws
  func acceptStart(of session: SessionID, token: PushToken, at moment: UnixTime) throws
}
