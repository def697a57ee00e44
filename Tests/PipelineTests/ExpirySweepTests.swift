import Foundation
import Pipeline
import ServiceRuntime
import Sessions
import TestSupport
import Testing
import Vocabulary

@Suite final class ExpirySweepTests {
  private let time = ManualTime()
  private let store = InMemoryStore()
  private let metrics = Metrics()
  private var rings = 0

  private func sweep(_ store: (any Store)? = nil, limits: SessionLimits = SessionLimits())
    -> ExpirySweep
  {
    ExpirySweep(
      store: store ?? self.store, limits: limits, time: time, log: .discarding, metrics: metrics,
      onCommit: { [unowned self] in rings += 1 })
  }

  @discardableResult
  private func begin(_ id: String = "cs_1") throws -> CookStory {
    let story = try CookStory(id: id, at: time.now())
    try store.write { try $0.save(story.session) }
    return story
  }

  private func events() throws -> [Event] {
    try store.write {
      try $0.leaseEvents(atMost: 10_000, now: self.time.now(), until: self.time.now())
    }.map { try Event(reading: $0.message) }
  }

  private func stored(_ story: CookStory) throws -> Session? {
    try store.read { try $0.session(story.session.id) }
  }

  @Test func `an expiry can be followed: its trace begins at the sweep`() throws {
    let story = try begin()
    let tracer = Tracer(metrics: metrics)
    let sweep = ExpirySweep(
      store: store, limits: SessionLimits(), time: time, log: .discarding, metrics: metrics,
      tracer: tracer)
    time.advance(by: SessionLimits().ttl + .seconds(3))
    #expect(try sweep.turn().expired == 1)
    let span = try #require(tracer.take(atMost: 10).first)
    #expect(try events().first?.traceparent == span.context.traceparent)
    #expect(span.name == "sweep expire" && span.parent == nil && span.kind == .own)
    #expect(span.begun == story.session.expiresAt && span.lasted == .seconds(3))
    #expect(span.attributes["lockstep.session"] == .text("cs_1"))
  }

  @Test func `whoever does not trace begins a trace all the same, for those who do`() throws {
    try begin()
    time.advance(by: SessionLimits().ttl)
    #expect(try sweep().turn().expired == 1)
    let trace = try #require(try events().first?.traceparent.flatMap(TraceContext.init))
    #expect(trace.isSampled)
  }

  @Test func `a session ends at its deadline, not before, and the outbox tells of it`() throws {
    let story = try begin()
    let sweep = sweep()
    time.advance(by: SessionLimits().ttl - .milliseconds(1))
    let next = story.session.expiresAt
    #expect(try sweep.turn() == .init(next: next))
    #expect(rings == 0)
    time.advance(by: .milliseconds(1))
    #expect(try sweep.turn() == .init(due: 1, expired: 1))
    #expect(rings == 1)
    #expect(try stored(story)?.endReason == .ttl)
    let event = try #require(events().first)
    #expect(event.type == "cooksuggest.session.cancelled")
    #expect(event.subject == .session(try #require(try stored(story)), mutation: "expire"))
    let record = try #require(try store.read { try $0.mutations(of: story.session.id) }.first)
    #expect(record.mutation == "expire")
    #expect(record.userID == nil)
    #expect(record.eventID == event.id)
    #expect(try sweep.turn() == .init())
    #expect(try events().count == 1)
    #expect(metrics.text().contains("lockstep_expiry_lateness_seconds_count 1"))
  }

  @Test func `a job ends at its deadline, not before, and the session goes back`() throws {
    var story = try begin()
    try story.go(.ready(true), by: Samples.dennis)
    try story.go(.ready(true), by: Samples.mara)
    try store.write { try $0.save(story.session) }
    let deadline = try #require(story.session.jobDeadline(SessionLimits()))
    let sweep = sweep()
    time.advance(by: deadline - time.now() - .milliseconds(1))
    #expect(try sweep.turn() == .init(next: deadline))
    time.advance(by: .milliseconds(1))
    #expect(try sweep.turn() == .init(due: 1, timedOut: 1))
    let back = try #require(try stored(story))
    #expect(back.state == .answering && back.kitchenDidNotAnswer && back.endReason == nil)
    #expect(back.expiresAt == time.now() + SessionLimits().ttl)
    #expect(try events().map(\.type) == ["cooksuggest.session.readied"])
    #expect(try sweep.turn() == .init(next: back.expiresAt))
    #expect(metrics.text().contains(#"lockstep_jobs_timed_out_total{kind="proposals"} 1"#))
  }

  @Test func `when both are due the session ends, once`() throws {
    var story = try begin()
    try story.go(.ready(true), by: Samples.dennis)
    try story.go(.ready(true), by: Samples.mara)
    try store.write { try $0.save(story.session) }
    time.advance(by: .seconds(9 * 3600))
    #expect(try sweep().turn() == .init(due: 1, expired: 1))
    #expect(try events().count == 1)
  }

  @Test func `a batch is a transaction of at most 200`() throws {
    for number in 0...ExpirySweep.batchMax { try begin("cs_\(number)") }
    time.advance(by: .seconds(9 * 3600))
    let sweep = sweep()
    #expect(try sweep.turn() == .init(due: 200, expired: 200))
    #expect(try sweep.turn() == .init(due: 1, expired: 1))
    #expect(try sweep.turn() == .init())
  }

  @Test func `a mutation that came between looking and ending wins`() throws {
    var story = try begin()
    time.advance(by: .seconds(2 * 3600))
    try story.go(.join, by: Samples.mara, at: time.now())
    let mutated = story.session
    let late = LateStore(store) { try $0.write { try $0.save(mutated) } }
    #expect(try sweep(late).turn() == .init(due: 1))
    #expect(try stored(story) == mutated)
    #expect(try events().isEmpty)
    #expect(rings == 0)
    #expect(metrics.text().contains("lockstep_expiry_lost_races_total 1"))
  }

  @Test func `a store that fails leaves nothing half done`() throws {
    let storeSwitch = StoreSwitch()
    let store = storeSwitch.store()
    let story = try CookStory(at: time.now())
    try store.write { try $0.save(story.session) }
    time.advance(by: .seconds(9 * 3600))
    storeSwitch.isAway = true
    let sweep = sweep(store)
    #expect(throws: StoreError.self) { try sweep.turn() }
    storeSwitch.isAway = false
    #expect(try sweep.turn() == .init(due: 1, expired: 1))
  }

  @Test(arguments: [
    (ExpirySweep.Turn(), 250), (.init(next: Samples.noon + .seconds(9)), 250),
    (.init(next: Samples.noon + .milliseconds(100)), 100),
    (.init(next: Samples.noon + .milliseconds(1)), 20), (.init(next: Samples.noon), 20),
    (.init(due: 199, expired: 199), 20), (.init(due: 200, expired: 200), 0),
    (.init(due: 200, expired: 1), 0), (.init(due: 200, timedOut: 1), 0), (.init(due: 200), 20),
  ])
  func `it waits for the next one due, within limits`(turn: ExpirySweep.Turn, milliseconds: Int) {
    #expect(sweep().pause(after: turn) == .milliseconds(milliseconds))
  }

  @Test func `it runs until it is stopped`() throws {
    let stop = StopSignal()
    let thread = OwnedThread.start(named: "sweep") { [store, metrics] in
      ExpirySweep(
        store: store, limits: SessionLimits(), time: SystemTime(), log: .discarding,
        metrics: metrics
      ).run(until: stop)
    }
    let story = try begin()
    #expect(becomesTrue { (try? stored(story)?.endReason) == .ttl })
    stop.raise()
    #expect(becomesTrue { thread.hasEnded })
  }

  /// Lets somebody else write just before each write.
  private struct LateStore: Store {
    let store: InMemoryStore
    let before: @Sendable (InMemoryStore) throws -> Void

    init(_ store: InMemoryStore, before: @escaping @Sendable (InMemoryStore) throws -> Void) {
      self.store = store
      self.before = before
    }

    func read<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
      try store.read(body)
    }

    func write<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
      try before(store)
      return try store.write(body)
    }
  }
}
