import Activities
import Cryptography
import ServiceRuntime
import Vocabulary

/// The sweep's other half: activities that a program drives, and has perhaps forgotten.
extension ExpirySweep {
  /// Ends one batch of activities whose time is over.
  func end(_ seen: [Activity], at now: UnixTime) throws -> Turn {
    let steps = seen.compactMap { activity in
      activity.ended(.ttl, at: now).map { Step(seen: activity, change: $0, at: now) }
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
      metrics.lateness.observe(max(0, (ended - step.seen.expiresAt).secondsAndFraction))
    }
    log.info("activities expired", ["count": "\(done.count)"])
    return Turn(due: seen.count, expired: done.count)
  }

  private struct Step {
    let seen: Activity
    let change: ActivityChange
    let event: OutboxEvent

    init(seen: Activity, change: ActivityChange, at now: UnixTime) {
      self.seen = seen
      self.change = change
      event = Event.outboxEntry(
        for: change, by: nil, id: EventID(UUIDText.v7(now: now)), at: now, traceparent: nil,
        source: "/lockstep/notifier")
    }
  }
}
