import Pushes
import Vocabulary

/// One row of the registry of Android phones with what became of it.
package struct FCMRow: Hashable, Sendable {
  package let registration: FCMRegistration
  /// When it died, by FCM's word or by ours; nil while it is in use.
  package let prunedAt: UnixTime?
  package let prunedBecause: String?

  package init(registration: FCMRegistration, prunedAt: UnixTime?, prunedBecause: String?) {
    self.registration = registration
    self.prunedAt = prunedAt
    self.prunedBecause = prunedBecause
  }
}

/// Which rows are meant; nil: any.
package struct FCMQuery: Hashable, Sendable {
  package var user: UserID?
  package var isPruned: Bool?
  package var prunedBecause: String?
  /// Pruned at this moment or later.
  package var prunedSince: UnixTime?

  package init(
    user: UserID? = nil, isPruned: Bool? = nil, prunedBecause: String? = nil,
    prunedSince: UnixTime? = nil
  ) {
    self.user = user
    self.isPruned = isPruned
    self.prunedBecause = prunedBecause
    self.prunedSince = prunedSince
  }
}

/// The tables `fcm_tokens`, one row per token, and `fcm_delivered`, one per token and card.
package protocol FCMRows {
  /// Inserts the row or refreshes it, takes back an earlier pruning, and removes the row that this
  /// token replaces (see ``FCMRegistration``).
  func register(_ registration: FCMRegistration) throws
  /// Removes the user's row of this token.
  ///
  /// - Returns: how many rows went, 0 or 1.
  func unregister(_ token: FCMToken, of user: UserID) throws -> Int
  /// Those of these users that are not pruned, oldest first.
  func fcmRegistrations(of users: [UserID]) throws -> [UserID: [FCMRegistration]]
  /// The rows of these tokens that are not pruned.
  func fcmRegistrations(_ tokens: [FCMToken]) throws -> [FCMToken: FCMRegistration]
  /// Rows that `query` means, pruned ones included, at most `limit` of them, after `place`; 0
  /// begins.
  ///
  /// - Returns: each with its place, in the order of places.
  func fcmRows(_ query: FCMQuery, after place: Int64, limit: Int) throws
    -> [(place: Int64, row: FCMRow)]
  /// Marks those as pruned at `now` that were last registered before `moment`, those of longest ago
  /// first, at most `limit`.
  ///
  /// - Returns: how many rows were marked.
  func pruneFCM(
    registeredBefore moment: UnixTime, because reason: String, at now: UnixTime, limit: Int
  ) throws -> Int
  /// Marks as dead, unless it was registered again after `moment`.
  ///
  /// - Returns: whether it was.
  func prune(
    _ token: FCMToken, because reason: String, unlessRegisteredAfter moment: UnixTime,
    at now: UnixTime
  ) throws -> Bool
  /// Takes back the pruning of these where it was done for this reason.
  ///
  /// - Returns: how many rows were restored.
  func restore(_ tokens: [FCMToken], prunedBecause reason: String) throws -> Int
  /// The newest rev of this card that FCM has taken for this token; nil when none. 0: it may have
  /// taken one, and nobody heard.
  func deliveredRev(of context: ContextKey, to token: FCMToken) throws -> Int?
  /// Raises ``deliveredRev(of:to:)``; an older rev changes nothing.
  ///
  /// - Returns: the newest rev that FCM has taken, `rev` included.
  func raiseDeliveredRev(of context: ContextKey, to token: FCMToken, rev: Int, at moment: UnixTime)
    throws -> Int
  /// Takes back what is known to be delivered, so that the newest state may go out once more.
  func forgetDeliveredRev(of context: ContextKey, to token: FCMToken) throws
  /// Removes tokens pruned, and deliveries raised last, before these moments: at most `limit` of
  /// each.
  ///
  /// - Returns: how many rows went.
  func removeFCM(prunedBefore pruned: UnixTime, deliveredBefore delivered: UnixTime, limit: Int)
    throws -> Int
}

extension FCMRows {
  /// All rows that `query` means, read page by page.
  package func fcmRows(_ query: FCMQuery) throws -> [FCMRow] {
    try pages { try fcmRows(query, after: $0, limit: $1) }
  }
}
