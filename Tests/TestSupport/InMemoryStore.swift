import Activities
import Dispatch
import Foundation
import Pipeline
import Pushes
import Sessions
import Synchronization
import Vocabulary

/// The store's promises without a disk, for tests and the simulation. Held to the same contract
/// suite as the real ones; deterministic, and forgotten with the process.
package final class InMemoryStore: Store {
  /// How long a writer waits for its turn; only a write inside a write ever does.
  private static let writeWait_ms = 10_000

  /// How often a write is done when writes are repeated.
  package static let attemptsPerWrite = 2

  private let committed = Mutex(InMemoryTables())
  private let turn = DispatchSemaphore(value: 1)
  private let beforeCommit: @Sendable () throws -> Void
  private let repeatsWrites: Bool

  /// - Parameters:
  ///   - repeatsWrites: does every write twice, the first time in vain, as a real store does when
  ///     another writer came between: what a body does besides is then seen twice.
  ///   - beforeCommit: called before every commit of a write; what it throws is thrown by the
  ///     write, which then leaves nothing behind.
  package init(
    repeatsWrites: Bool = true, beforeCommit: @escaping @Sendable () throws -> Void = {}
  ) {
    self.repeatsWrites = repeatsWrites
    self.beforeCommit = beforeCommit
  }

  package func read<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    let transaction = InMemoryTransaction(committed.withLock { $0 }, mayWrite: false)
    defer { transaction.end() }
    let result = try body(transaction)
    try transaction.checkUnharmed()
    return result
  }

  package func write<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    guard turn.wait(timeout: .now() + .milliseconds(Self.writeWait_ms)) == .success else {
      throw StoreError("another write took longer than \(Self.writeWait_ms) ms")
    }
    defer { turn.signal() }
    if repeatsWrites { inVain(body) }
    let transaction = InMemoryTransaction(committed.withLock { $0 }, mayWrite: true)
    defer { transaction.end() }
    let result = try body(transaction)
    try transaction.checkUnharmed()
    try beforeCommit()
    committed.withLock { $0 = transaction.tables }
    return result
  }
}

extension InMemoryStore {
  /// What it throws it will throw again, or not: the second time counts.
  private func inVain<Result>(_ body: (any StoreTransaction) throws -> Result) {
    let transaction = InMemoryTransaction(committed.withLock { $0 }, mayWrite: true)
    defer { transaction.end() }
    _ = Swift.Result { try body(transaction) }
  }
}

/// The rows, named as the real store's tables.
struct InMemoryTables: Sendable {
  struct Token {
    var registration: Registration
    var deliveredRev: Int?
    var pruned: (at: UnixTime, reason: String)?
  }

  struct Subscription {
    var row: WebPushSubscription
    var pruned: (at: UnixTime, reason: String)?
  }

  struct FCMToken {
    var row: FCMRegistration
    var pruned: (at: UnixTime, reason: String)?
  }

  struct FCMDelivery: Hashable {
    let context: ContextKey
    let token: Pushes.FCMToken
  }

  struct AnswerKey: Hashable {
    let user: UserID
    let route: String
    let key: String
  }

  struct Waiting {
    var event: OutboxEvent
    var leasedUntil: UnixTime?
    var isParked = false

    func isHeld(at now: UnixTime) -> Bool {
      leasedUntil.map { $0 > now && $0 <= now + OutboxEvent.holdMax } ?? false
    }
  }

  /// Places of the oldest events that may be leased.
  func freeEvents(atMost count: Int, now: UnixTime) -> [Int] {
    var behind: Set<String> = []
    var free: [Int] = []
    for (place, row) in outbox.enumerated() where free.count < count {
      if row.isHeld(at: now) {
        if let key = row.event.orderKey, !row.isParked { behind.insert(key) }
      } else if row.event.orderKey.map({ !behind.contains($0) }) ?? true {
        free.append(place)
      }
    }
    return free
  }

  var profiles: [UserID: Profile] = [:]
  /// As JSON, like the real stores: what the wire form loses is lost here too.
  var sessions: [SessionID: Data] = [:]
  var live: [SessionID: Session] = [:]
  /// As JSON too.
  var activities: [ActivityKey: Data] = [:]
  var answers: [SessionID: [UserID: Data]] = [:]
  var tokens: [Token] = []
  var activityState: [ContextKey: ActivityState] = [:]
  var activityReports: [ContextKey: PhoneReport] = [:]
  /// All of them, oldest first.
  var phoneReports: [PhoneReport] = []
  var mutations: [MutationRecord] = []
  var builds: [BuildRecord] = []
  var starts: [Start] = []
  var deliveries: [DeliveryRecord] = []
  var subscriptions: [PushEndpoint: Subscription] = [:]
  var fcmTokens: [Pushes.FCMToken: FCMToken] = [:]
  var fcmDelivered: [FCMDelivery: (rev: Int, at: UnixTime)] = [:]
  var notifications: [Pipeline.Notification] = []
  var idempotencyKeys: [AnswerKey: StoredAnswer] = [:]
  /// Oldest first.
  var outbox: [Waiting] = []
  var lastSequence: Int64 = 0
}

/// Works on a copy of the tables, which becomes the truth at the commit.
final class InMemoryTransaction: StoreTransaction {
  private var copy: InMemoryTables
  private let mayWrite: Bool
  private var isOver = false
  private var failed: StoreError?

  init(_ tables: InMemoryTables, mayWrite: Bool) {
    copy = tables
    self.mayWrite = mayWrite
  }

  /// The rows as this transaction sees them.
  var tables: InMemoryTables { copy }

  func end() { isOver = true }

  func checkUnharmed() throws {
    if let failed { throw failed }
  }

  /// For reading: throws when the transaction is over or harmed.
  func rows() throws -> InMemoryTables {
    if isOver { throw StoreError("a transaction was used after its end") }
    try checkUnharmed()
    return copy
  }

  /// For writing.
  func change<Result>(_ body: (inout InMemoryTables) throws -> Result) throws -> Result {
    _ = try rows()
    do {
      guard mayWrite else { throw StoreError("cannot be written: this transaction only reads") }
      return try body(&copy)
    } catch let error as StoreError {
      failed = error
      throw error
    }
  }
}

// MARK: Sessions and profiles

extension InMemoryTransaction {
  func profiles(of users: [UserID]) throws -> [UserID: Profile] {
    let wanted = Set(users)
    return try rows().profiles.filter { wanted.contains($0.key) }
  }

  func save(_ profile: Profile) throws { try change { $0.profiles[profile.userID] = profile } }

  func session(_ id: SessionID) throws -> Session? {
    try rows().sessions[id].map { try JSON.decode(Session.self, from: $0) }
  }

  func save(_ session: Session) throws {
    try change {
      $0.sessions[session.id] = JSON.encoded(session)
      $0.live[session.id] = session.state.isFinal ? nil : session
    }
  }

  func liveSessionCount(of user: UserID) throws -> Int {
    try rows().live.values.count { session in
      session.participants.contains { $0.userID == user && $0.isPresent }
    }
  }

  func expiredSessions(at moment: UnixTime, limit: Int) throws -> [Session] {
    let ids = try rows().live.values.filter { $0.expiresAt <= moment }
      .sorted { ($0.expiresAt, $0.id) < ($1.expiresAt, $1.id) }.prefix(limit).map(\.id)
    return try ids.compactMap { try session($0) }
  }

  func sessionsInKitchen(unchangedSince moment: UnixTime, limit: Int) throws -> [Session] {
    let ids = try rows().live.values.filter { $0.jobInHand != nil && $0.updatedAt <= moment }
      .sorted { ($0.updatedAt, $0.id) < ($1.updatedAt, $1.id) }.prefix(limit).map(\.id)
    return try ids.compactMap { try session($0) }
  }

  func earliestDue() throws -> (expiry: UnixTime?, inKitchenSince: UnixTime?) {
    let live = try rows().live.values
    return (
      live.map(\.expiresAt).min(), live.filter { $0.jobInHand != nil }.map(\.updatedAt).min()
    )
  }

  func replace(_ seen: Session, with next: Session) throws -> Bool {
    guard let stored = try session(seen.id), stored.state == seen.state, stored.rev == seen.rev,
      stored.expiresAt == seen.expiresAt
    else { return false }
    try save(next)
    return true
  }

  func saveAnswers(_ json: Data, of user: UserID, in session: SessionID) throws {
    try change { $0.answers[session, default: [:]][user] = json }
  }

  func answers(in session: SessionID) throws -> [UserID: Data] {
    try rows().answers[session] ?? [:]
  }
}
