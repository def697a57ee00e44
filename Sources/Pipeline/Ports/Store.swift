import Foundation
import Pushes
import Sessions
import Vocabulary

/// The one database: sessions, tokens, what was pushed, and the outbox.
///
/// Everything happens in transactions. One that throws leaves nothing behind. Writers are
/// serialised: what one transaction read has not changed when it commits. Where others came
/// between, `body` is done again from its beginning; so it has no effect but on the rows, and sets
/// anew whatever else it sets.
package protocol Store: Sendable {
  /// - Throws: ``StoreError`` from the store, or whatever `body` threw.
  func read<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result
  func write<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result
}

/// The store cannot do it now: disk full, locked for too long, connection lost.
package struct StoreError: Error, Hashable, CustomStringConvertible {
  package let reason: String
  package init(_ reason: String) { self.reason = reason }
  package var description: String { reason }
}

/// What can be done within one transaction. Valid only inside the closure that got it.
package protocol StoreTransaction: AnyObject, ProfileRows, SessionRows, TokenRows, ActivityRows,
  StartRows, DeliveryRows, NotificationRows, IdempotencyRows, OutboxRows, SubscriptionRows,
  HistoryRows, TokenListing, TokenAgeRows, DrivenActivityRows, FCMRows, EndedRows
{}

package protocol ProfileRows {
  /// Those of `users` that have a profile.
  func profiles(of users: [UserID]) throws -> [UserID: Profile]
  func save(_ profile: Profile) throws
}

package protocol SessionRows {
  func session(_ id: SessionID) throws -> Session?
  /// Inserts or replaces the session and its participants.
  func save(_ session: Session) throws
  /// How many sessions that have not ended the user takes part in and has not left.
  func liveSessionCount(of user: UserID) throws -> Int
  /// Sessions that have not ended and whose `expiresAt` is `moment` or earlier: the ones overdue
  /// longest first, at most `limit`.
  func expiredSessions(at moment: UnixTime, limit: Int) throws -> [Session]
  /// Sessions that the kitchen works for and that have not changed since `moment` or earlier: the
  /// ones that have waited longest first, at most `limit`.
  func sessionsInKitchen(unchangedSince moment: UnixTime, limit: Int) throws -> [Session]
  /// The earliest `expiresAt` of a session that has not ended, and the earliest `updatedAt` of one
  /// that the kitchen works for; nil when there is none.
  func earliestDue() throws -> (expiry: UnixTime?, inKitchenSince: UnixTime?)
  /// Compare and set: saves `next` if what is stored still has the state, rev and `expiresAt` of
  /// `seen`. Both have the same participants.
  ///
  /// - Returns: false when somebody else changed it first; then nothing has happened.
  func replace(_ seen: Session, with next: Session) throws -> Bool
  /// Stores one participant's answers as they came: JSON text.
  func saveAnswers(_ json: Data, of user: UserID, in session: SessionID) throws
  func answers(in session: SessionID) throws -> [UserID: Data]
}

package protocol TokenRows {
  /// Inserts the row or refreshes it (`registeredAt` and what came with it), takes back an earlier
  /// pruning, and removes the row that this token replaces (see ``Registration``).
  func register(_ registration: Registration) throws
  /// Removes the user's rows of this token, of one kind and attributes type when given.
  ///
  /// - Returns: how many rows went.
  func unregister(_ token: PushToken, of user: UserID, kind: TokenKind?, attributesType: String?)
    throws -> Int
  /// The update tokens of these activities that are not pruned.
  func updateTokens(of contexts: [ContextKey]) throws -> [ContextKey: [Registration]]
  /// The tokens of one kind of these users that are not pruned.
  func tokens(of users: [UserID], kind: TokenKind) throws -> [UserID: [Registration]]
  /// The rows of these tokens, pruned ones left out.
  func registrations(of tokens: [PushToken]) throws -> [PushToken: [Registration]]
  /// Marks as accepted by APNs; a row that already is stays as it is.
  func markProven(_ token: PushToken, at moment: UnixTime) throws
  /// Marks all rows of this token as pruned, except those registered after `moment`.
  ///
  /// - Returns: how many rows were marked.
  func prune(_ token: PushToken, because reason: String, unlessRegisteredAfter moment: UnixTime)
    throws -> Int
  /// Takes back the pruning of these tokens where it was done for this reason.
  ///
  /// - Returns: how many rows were restored.
  func restore(_ tokens: [PushToken], prunedBecause reason: String) throws -> Int
  /// Notes that this token belongs to the other of Apple's services.
  func moveToken(_ token: PushToken, to environment: PushEnvironment) throws
  /// Removes rows pruned before `moment`, at most `limit` of them.
  ///
  /// - Returns: how many rows went.
  func removeRegistrations(prunedBefore moment: UnixTime, limit: Int) throws -> Int
}
