import Activities
import Cryptography
import ServiceRuntime
import Sessions
import Vocabulary

/// Ends sessions and activities whose time is over, and takes jobs back that the kitchen did not
/// answer in time.
///
/// Any number of sweeps may run. Each reads what is due, decides without holding anything, and then
/// compares and sets: a mutation that came first wins, and exactly one sweep ends a session. The
/// event goes into the outbox in the same transaction. One thread runs a sweep.
package final class ExpirySweep {
  /// Sessions changed in one transaction: others who write wait no longer than this takes.
  package static let batchMax = 200
  /// The longest wait for the next session to fall due: one that was made meanwhile is seen then.
  package static let waitMax: Duration = .milliseconds(250)
  /// The shortest, so that a steady stream is done in batches and not one by one.
  package static let waitMin: Duration = .milliseconds(20)
  /// The wait after the store failed.
  private static let storeWait: Duration = .seconds(1)

  let store: any Store
  private let limits: SessionLimits
  let time: any TimeSource
  let log: Log
  let metrics: ExpiryMetrics
  private let health: Health
  let traces: ExpiryTraces
  let onCommit: () -> Void

  /// The reason, while the store is away.
  private var trouble: String? {
    didSet { health.report("expiry", trouble: trouble, effect: .degrades) }
  }

  /// `tracer`: nil while nobody traces. `onCommit`: called after events went into the outbox.
  package init(
    store: any Store, limits: SessionLimits, time: any TimeSource, log: Log, metrics: Metrics,
    health: Health = Health(), tracer: Tracer? = nil, onCommit: @escaping () -> Void = {}
  ) {
    self.store = store
    self.limits = limits
    self.time = time
    self.log = log
    self.metrics = ExpiryMetrics(metrics)
    self.health = health
    traces = ExpiryTraces(tracer)
    self.onCommit = onCommit
  }

  /// What one turn found.
  package struct Turn: Hashable, Sendable {
    /// Sessions and activities that were due when it looked.
    package var due = 0
    /// Those of them that it ended because their time was over.
    package var expired = 0
    /// Those whose job it took back from the kitchen.
    package var timedOut = 0
    /// When the next one falls due, as far as is known now; nil when nothing waits.
    package var next: UnixTime?

    package init(due: Int = 0, expired: Int = 0, timedOut: Int = 0, next: UnixTime? = nil) {
      self.due = due
      self.expired = expired
      self.timedOut = timedOut
      self.next = next
    }

    mutating func add(_ other: Turn) {
      due += other.due
      expired += other.expired
      timedOut += other.timedOut
    }
  }

  /// Does one batch of what is due.
  ///
  /// - Throws: ``StoreError``; what had been changed by then is stored.
  package func turn() throws -> Turn {
    let now = time.now()
    let due = try store.read { try self.due(now, in: $0) }
    var turn = Turn(next: due.next)
    if !due.sessions.isEmpty { turn.add(try endOrTakeBack(due.sessions, at: now)) }
    if !due.activities.isEmpty { turn.add(try end(due.activities, at: now)) }
    return turn
  }

  private func endOrTakeBack(_ sessions: [Session], at now: UnixTime) throws -> Turn {
    // Decided and written out before the write lock is taken.
    let steps = sessions.compactMap { step(from: $0, at: now) }
    let done = try store.write { transaction in
      try steps.filter { step in
        guard try transaction.replace(step.seen, with: step.change.session) else { return false }
        try transaction.append(step.event)
        try transaction.save(MutationRecord(step.change, event: step.event))
        return true
      }
    }
    if !done.isEmpty { onCommit() }
    metrics.lostRaces.add(steps.count - done.count)
    return count(done, due: sessions.count)
  }

  private struct Due {
    var sessions: [Session]
    var activities: [Activity]
    /// Nil while there is something to do.
    var next: UnixTime?
  }

  /// One look at the store for everything.
  private func due(_ now: UnixTime, in transaction: any StoreTransaction) throws -> Due {
    var sessions = try transaction.expiredSessions(at: now, limit: Self.batchMax)
    let expired = Set(sessions.map(\.id))
    sessions += try transaction.sessionsInKitchen(
      unchangedSince: now - limits.jobTime, limit: Self.batchMax - sessions.count
    ).filter { !expired.contains($0.id) }
    let activities = try transaction.expiredActivities(at: now, limit: Self.batchMax)
    guard sessions.isEmpty, activities.isEmpty else {
      return Due(sessions: sessions, activities: activities)
    }
    let (expiry, since) = try transaction.earliestDue()
    let dues = [
      expiry, since.map { $0 + limits.jobTime }, try transaction.earliestActivityExpiry(),
    ].compactMap(\.self)
    return Due(sessions: [], activities: [], next: dues.min())
  }

  private struct Step {
    let seen: Session
    let change: Change
    let event: OutboxEvent
    let trace: TraceContext
  }

  /// Nil when the session is not due after all.
  private func step(from seen: Session, at now: UnixTime) -> Step? {
    let job = seen.expiresAt > now ? seen.jobInHand : nil
    let mutation = job.map { Mutation.jobTimedOut($0.jobID) } ?? .expire
    let event = EventID(UUIDText.v7(now: now))
    let trace = traces.begin()
    do throws(Refusal) {
      // No mutation of the clock starts a job, so the id for a new one is never used.
      guard
        let change = try seen.apply(
          mutation, by: nil, at: now, newJobID: JobID(event.text), limits: limits)
      else { return nil }
      let entry = Event.outboxEntry(
        for: change, id: event, at: now, traceparent: trace.traceparent,
        source: "/lockstep/notifier")
      return Step(seen: seen, change: change, event: entry, trace: trace)
    } catch {
      log.error("session cannot expire", ["session": seen.id.text, "because": error.detail])
      return nil
    }
  }

  private func count(_ done: [Step], due: Int) -> Turn {
    let now = time.now()
    var turn = Turn(due: due)
    for step in done {
      let isTimeOver = step.change.session.endReason != nil
      traces.done(
        step.change.mutationName, of: step.seen.id, step.trace,
        dueAt: isTimeOver ? step.seen.expiresAt : step.seen.updatedAt + limits.jobTime, now: now)
      if let job = step.seen.jobInHand, step.change.session.endReason == nil {
        turn.timedOut += 1
        metrics.jobTimedOut(job.kind)
        log.warning(
          "kitchen did not answer in time",
          ["session": step.seen.id.text, "job": job.jobID.text, "kind": job.kind.rawValue])
      } else {
        turn.expired += 1
        metrics.lateness.observe(max(0, (now - step.seen.expiresAt).secondsAndFraction))
      }
    }
    if turn.expired > 0 { log.info("sessions expired", ["count": "\(turn.expired)"]) }
    return turn
  }

  // MARK: The loop

  /// Runs until `stop` is raised. A store that is away is waited out.
  package func run(until stop: StopSignal) {
    while !stop.isRaised {
      do {
        let turn = try turn()
        note(nil)
        stop.wait(atMost: pause(after: turn))
      } catch {
        note("\(error)")
        stop.wait(atMost: Self.storeWait)
      }
    }
  }

  /// How long to wait before the next turn: until the next session falls due, within limits.
  package func pause(after turn: Turn) -> Duration {
    // A full batch leaves more behind. When another sweep was faster, it also has the next one.
    let isAlone = turn.expired + turn.timedOut > 0
    guard turn.due == 0 else { return turn.due >= Self.batchMax && isAlone ? .zero : Self.waitMin }
    guard let next = turn.next else { return Self.waitMax }
    return min(max(next - time.now(), Self.waitMin), Self.waitMax)
  }

  private func note(_ trouble: String?) {
    guard trouble != self.trouble else { return }
    if let trouble, self.trouble == nil { log.warning("expiry waits", ["because": trouble]) }
    if trouble == nil { log.info("expiry goes on") }
    self.trouble = trouble
  }
}

/// What the sweep counts.
struct ExpiryMetrics {
  let lateness: Histogram
  let lostRaces: Counter
  private let metrics: Metrics

  init(_ metrics: Metrics) {
    self.metrics = metrics
    lateness = metrics.histogram(
      "lockstep_expiry_lateness_seconds", help: "From a session's deadline to its end.",
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300])
    lostRaces = metrics.counter(
      "lockstep_expiry_lost_races_total",
      help: "Sessions that were due and that somebody else changed first.")
    for kind in KitchenJob.Kind.allCases { _ = timedOut(kind) }
  }

  func jobTimedOut(_ kind: KitchenJob.Kind) { timedOut(kind).add() }

  private func timedOut(_ kind: KitchenJob.Kind) -> Counter {
    metrics.counter(
      "lockstep_jobs_timed_out_total", help: "Jobs that the kitchen did not answer in time.",
      labels: ["kind": kind.rawValue])
  }
}
