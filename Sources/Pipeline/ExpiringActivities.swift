import Activities
import Cryptography
import ServiceRuntime
import Vocabulary

/// The sweep's other half: activities that a program drives, and has perhaps forgotten.
extension ExpirySweep {
  /// Ends one batch of activities whose time is over.
  func end(_ seen: [Activity], at now: UnixTime) throws -> Turn {
    let steps = seen.compactMap { activity in
      activity.ended(.ttl, at: now).map {
        Step(seen: activity, change: $0, trace: traces.begin(), at: now)
      }
    }
    let done = try store.write { transaction in
      try steps.filter { step in
        guard try transaction.replace(step.seen, with: step.change.activity) else { return false }
        try transaction.append(step.event)
        try transaction.save(MutationRecord(step.change, by: nil, event: step.event))
        return true
      }
    }
    metrics.lostRaces.add(steps.count - done.count)
    guard !done.isEmpty else { return Turn(due: seen.count) }
    onCommit()
    let ended = time.now()
    for step in done {
      traces.done(
        step.change.mutationName, of: step.seen.sessionID, step.trace, dueAt: step.seen.expiresAt,
        now: ended)
      metrics.lateness.observe(max(0, (ended - step.seen.expiresAt).secondsAndFraction))
    }
    log.info("activities expired", ["count": "\(done.count)"])
    return Turn(due: seen.count, expired: done.count)
  }

  private struct Step {
    let seen: Activity
    let change: ActivityChange
    let event: OutboxEvent
    let trace: TraceContext

    init(seen: Activity, change: ActivityChange, trace: TraceContext, at now: UnixTime) {
      self.seen = seen
      self.change = change
      self.trace = trace
      event = Event.outboxEntry(
        for: change, by: nil, id: EventID(UUIDText.v7(now: now)), at: now,
        traceparent: trace.traceparent, source: "/lockstep/notifier")
    }
  }
}
