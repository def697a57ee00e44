import Pipeline
import Pushes
import Sessions
import TestSupport
import Vocabulary

/// The store as one process sees it: it may be away, a commit may fail, and the process may die
/// before and after each transaction.
///
/// Not Sendable in truth: everything in a world happens on one thread.
final class MortalStore: Store, @unchecked Sendable {
  private let inner: InMemoryStore
  private let life: Life
  private let chaos: Chaos
  private let ledger: Ledger
  private let broken: BrokenRule?
  private let kind: ProcessKind

  init(
    _ inner: InMemoryStore, life: Life, kind: ProcessKind, chaos: Chaos, ledger: Ledger,
    broken: BrokenRule?
  ) {
    self.inner = inner
    self.life = life
    self.kind = kind
    self.chaos = chaos
    self.ledger = ledger
    self.broken = broken
  }

  func read<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    try alive("before reading")
    if chaos.strikes(onceIn: 60) { throw StoreError("database is locked") }
    let result = try inner.read { try body(broken?.transaction(on: $0, of: kind) ?? $0) }
    life.lookedAt = ledger.moment
    try alive("after reading")
    return result
  }

  func write<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    try alive("before writing")
    if chaos.strikes(onceIn: 40) { throw StoreError("disk full") }
    var written: RecordingTransaction?
    var unstored: Result?
    // The store does every write twice; fate strikes in the one that counts.
    var attempts = 0
    do {
      let result = try inner.write { transaction in
        attempts += 1
        let recording = RecordingTransaction(transaction)
        written = recording
        let result = try body(broken?.transaction(on: recording, of: kind) ?? recording)
        guard attempts == InMemoryStore.attemptsPerWrite else { return result }
        if broken == .settlesWithoutStoring, kind == .builder, chaos.strikes(onceIn: 4) {
          unstored = result
          throw StoreError("not stored, and nobody is told")
        }
        if chaos.strikes(onceIn: 40) { throw StoreError("the commit failed") }
        return result
      }
      if let written { ledger.committed(written, by: kind) }
      life.lookedAt = ledger.moment
      try alive("after writing")
      return result
    } catch {
      if let unstored { return unstored }
      throw error
    }
  }

  private func alive(_ moment: String) throws {
    do {
      try life.moment(moment)
    } catch {
      throw StoreError("killed")
    }
  }
}

/// Notes what a transaction writes, for the ledger, should it commit.
final class RecordingTransaction: ForwardingTransaction {
  private(set) var events: [OutboxEvent] = []
  private(set) var deliveries: [DeliveryRecord] = []
  /// Places of which it is no longer known what FCM has taken.
  private(set) var forgotten: [Ledger.FCMPlace] = []
  /// Who holds which start until when; nil gives it free.
  private(set) var holds: [(place: Ledger.StartPlace, until: UnixTime?)] = []
  /// Dedupe keys of what is over.
  private(set) var resolved: [String] = []

  override func append(_ event: OutboxEvent) throws {
    events.append(event)
    try super.append(event)
  }

  override func claimStart(of session: SessionID, token: PushToken, until: UnixTime?) throws {
    holds.append((Ledger.StartPlace(session: session, token: token), until))
    try super.claimStart(of: session, token: token, until: until)
  }

  override func forgetDeliveredRev(of context: ContextKey, to token: FCMToken) throws {
    forgotten.append(Ledger.FCMPlace(token: token.fingerprint, context: context))
    try super.forgetDeliveredRev(of: context, to: token)
  }

  override func resolve(dedupeKey: String, because reason: String, at moment: UnixTime) throws
    -> [Pipeline.Notification]
  {
    let records = try super.resolve(dedupeKey: dedupeKey, because: reason, at: moment)
    if !records.isEmpty { resolved.append(dedupeKey) }
    return records
  }

  override func save(_ records: [DeliveryRecord]) throws {
    deliveries += records
    try super.save(records)
  }
}
