import Pipeline
import Pushes
import ServiceRuntime
import Sessions
import TestSupport
import Testing
import Vocabulary

@Suite struct RecordKeepingTests {
  private let time = ManualTime()
  private let storeSwitch = StoreSwitch()
  private let store: InMemoryStore
  private let keeping: RecordKeeping
  private let metrics = Metrics()
  private let session = SessionID("cs_1")
  private let kept: Duration = .seconds(14 * 24 * 3600)

  init() {
    store = storeSwitch.store()
    keeping = RecordKeeping(
      store: store, kept: kept, life: TokenLife(device: .seconds(270 * 24 * 3600)), time: time,
      log: .discarding, metrics: metrics)
  }

  private func delivery(at moment: UnixTime) -> DeliveryRecord {
    DeliveryRecord(
      jobID: "j", sessionID: session, userID: Samples.mara.userID, contextKey: nil, rev: 1,
      tokenFingerprint: "01234567", event: "update", status: 200, reason: nil, attempt: 1,
      causedAt: moment, settledAt: moment)
  }

  @Test func `records older than the time set go, in batches; those of that time stay`() throws {
    let old = time.now() - kept - .milliseconds(1)
    let young = time.now() - kept
    try store.write { rows in
      try rows.save(Array(repeating: delivery(at: old), count: RecordKeeping.batchMax + 1))
      try rows.save([delivery(at: young)])
      let report = PhoneReport(
        contextKey: ContextKey("c"), userID: Samples.mara.userID, state: .active, rev: 1,
        reportedAt: old)
      try rows.save(report)
    }
    #expect(try keeping.turn() == RecordKeeping.batchMax + 1)
    #expect(try keeping.turn() == 1)
    #expect(try keeping.turn() == 0)
    #expect(try store.read { try $0.deliveries(of: session) } == [delivery(at: young)])
    #expect(metrics.text().contains("lockstep_records_removed_total 502"))
  }

  @Test func `a pruned token stays for 30 days`() throws {
    let owner = Samples.mara.userID
    for (number, age) in [(1, Int64(1)), (2, 0)] {
      let died = time.now() - RecordKeeping.prunedKept - .milliseconds(age)
      try store.write { rows in
        try rows.register(Samples.registration(Samples.token(number), of: owner, .alert, at: died))
        _ = try rows.prune(Samples.token(number), because: "x", unlessRegisteredAfter: died)
      }
    }
    #expect(try keeping.turn() == 1)
    let left = try store.read { try $0.tokenRows(TokenQuery(user: owner)) }
    #expect(left.map(\.registration.token) == [Samples.token(2)])
  }

  @Test(arguments: [
    (TokenKind.alert, Duration.seconds(270 * 24 * 3600)), (.pushToStart, .seconds(270 * 24 * 3600)),
    (.update, .seconds(12 * 3600)),
  ])
  func `E-5 a token that its app does not register again is pruned, and one that it does is not`(
    kind: TokenKind, life: Duration
  ) throws {
    let owner = Samples.mara.userID
    func register(_ number: Int) throws {
      let registration = Samples.registration(
        Samples.token(number), of: owner, kind, context: kind == .update ? ContextKey("c") : nil,
        at: time.now())
      try store.write { try $0.register(registration) }
    }
    for number in 1...2 { try register(number) }
    time.advance(by: life)
    #expect(try keeping.turn() == 0)
    try register(2)
    time.advance(by: .milliseconds(1))
    #expect(try keeping.turn() == 1)
    let rows = try store.read { try $0.tokenRows(TokenQuery(user: owner)) }
    #expect(rows.map(\.prunedBecause) == [TokenLife.reason, nil])
    #expect(metrics.text().contains("lockstep_tokens_pruned_total{reason=\"NotSeen\"} 1"))
    // An uninstalled app that is put back starts, and registers.
    try register(1)
    #expect(try store.read { try $0.registrations(of: [Samples.token(1)]) }.count == 1)
  }

  @Test func `E-5 an Android phone that was not registered for 270 days is pruned`() throws {
    let phone = FCMRegistration(
      userID: Samples.mara.userID, token: try FCMToken("Phone:1"), deviceID: nil,
      packageName: nil, registeredAt: time.now())
    try store.write { try $0.register(phone) }
    time.advance(by: .seconds(270 * 24 * 3600))
    #expect(try keeping.turn() == 0)
    time.advance(by: .milliseconds(1))
    #expect(try keeping.turn() == 1)
    let rows = try store.read { try $0.fcmRows(FCMQuery()) }
    #expect(rows.map(\.prunedBecause) == [TokenLife.reason])
    #expect(metrics.text().contains("lockstep_tokens_pruned_total{reason=\"NotSeen\"} 1"))
  }

  @Test func `a store that is away loses nothing`() throws {
    try store.write { try $0.save([delivery(at: time.now() - kept - .seconds(1))]) }
    storeSwitch.isAway = true
    #expect(throws: StoreError.self) { try keeping.turn() }
    storeSwitch.isAway = false
    #expect(try keeping.turn() == 1)
  }
}
