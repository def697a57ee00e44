import Pushes
import Sessions
import Vocabulary

/// Everything the store knows of one session, read in one transaction: what a ``Timeline`` is made
/// of.
package struct SessionHistory: Sendable {
  package let id: SessionID
  /// Nil when the session itself is not kept here, as when another program wrote its events.
  package let session: Session?
  package let mutations: [MutationRecord]
  package let builds: [BuildRecord]
  package let deliveries: [DeliveryRecord]
  package let reports: [PhoneReport]
  package let starts: [Start]
  package let states: [ContextKey: ActivityState]
  package let dismissed: Set<ContextKey>
  /// Of everybody who takes part, pruned ones included: update tokens of this session's activities,
  /// and all push-to-start tokens.
  package let tokens: [TokenRow]
  /// Android phones of everybody who takes part, pruned ones included.
  package let androids: [Android]
  /// Events that wait in the outbox.
  package let unpublished: Set<EventID>

  package struct Android: Sendable {
    package let row: FCMRow
    /// The newest rev of each card that FCM has taken for it.
    package let delivered: [ContextKey: Int]
  }

  /// - Throws: ``StoreError``.
  package init(of id: SessionID, in transaction: any StoreTransaction) throws {
    self.id = id
    session = try transaction.session(id)
    mutations = try transaction.mutations(of: id)
    builds = try transaction.builds(of: id)
    deliveries = try transaction.deliveries(of: id)
    starts = try transaction.starts(of: [id])
    var users = Set(builds.map(\.userID) + deliveries.map(\.userID))
    var contexts = Set(builds.map(\.contextKey) + deliveries.compactMap(\.contextKey))
    for user in session?.participants.map(\.userID) ?? [] {
      users.insert(user)
      if let key = session?.contextKey(for: user) { contexts.insert(key) }
    }
    reports = try transaction.reports(of: Array(contexts))
    states = try transaction.activityStates(Array(contexts))
    dismissed = try transaction.dismissed(among: Array(contexts))
    tokens = try users.sorted().flatMap { user in
      try transaction.tokenRows(TokenQuery(user: user)).filter { row in
        switch row.registration.kind {
        case .alert: false
        case .pushToStart: true
        case .update: row.registration.contextKey.map(contexts.contains) ?? false
        }
      }
    }
    androids = try users.sorted().flatMap { user in
      try transaction.fcmRows(FCMQuery(user: user)).map { row in
        Android(
          row: row,
          delivered: try contexts.reduce(into: [:]) {
            $0[$1] = try transaction.deliveredRev(of: $1, to: row.registration.token)
          })
      }
    }
    unpublished = try transaction.unpublished(among: mutations.map(\.eventID))
  }

  /// Whether anything is known of it.
  package var isEmpty: Bool {
    session == nil && mutations.isEmpty && builds.isEmpty && deliveries.isEmpty
  }

  /// Everybody with a card of their own, in the order they take part.
  package var users: [UserID] {
    var seen: Set<UserID> = []
    let all =
      (session?.participants.map(\.userID) ?? []) + builds.map(\.userID)
      + deliveries.map(\.userID)
    return all.filter { seen.insert($0).inserted }
  }

  /// The newest rev anybody knows of.
  package var newestRev: Int {
    let known = [session?.rev].compactMap(\.self) + mutations.map(\.rev) + builds.map(\.rev)
    return (known + states.values.map(\.rev)).max() ?? 0
  }

  package func contextKey(of user: UserID) -> ContextKey? {
    session.flatMap { $0.participant(user) == nil ? nil : $0.contextKey(for: user) }
      ?? builds.last { $0.userID == user }?.contextKey
      ?? deliveries.last { $0.userID == user && $0.contextKey != nil }?.contextKey
  }
}
