import Pushes
import ServiceRuntime
import Vocabulary

/// Removes what has grown old: records of what happened, sessions and activities that are over,
/// notifications, and what was pruned long ago. Prunes tokens that no phone registered for long. A
/// little at a time, so that those who work wait for nothing.
///
/// Any number may run. One thread runs one.
package final class RecordKeeping {
  /// Rows of one kind removed in one transaction: others who write wait no longer than this takes.
  package static let batchMax = 500
  /// Sessions removed in one transaction: each takes a handful of statements.
  private static let endedMax = 50
  /// How long a token or subscription stays after it was pruned: until then it can be restored.
  package static let prunedKept: Duration = .seconds(30 * 24 * 3600)
  /// Between two batches while there is more.
  private static let breath: Duration = .milliseconds(200)
  /// Between two looks.
  private static let pause: Duration = .seconds(600)

  private let store: any Store
  private let kept: Duration
  private let life: TokenLife
  private let time: any TimeSource
  private let log: Log
  private let removed: Counter
  private let pruned: Counter

  /// `kept`: how long records of what happened are kept.
  package init(
    store: any Store, kept: Duration, life: TokenLife, time: any TimeSource, log: Log,
    metrics: Metrics
  ) {
    self.store = store
    self.kept = kept
    self.life = life
    self.time = time
    self.log = log
    removed = metrics.counter(
      "lockstep_records_removed_total", help: "Old records that were removed.")
    pruned = metrics.counter(
      "lockstep_tokens_pruned_total", help: "Tokens marked as dead.",
      labels: ["reason": TokenLife.reason])
  }

  /// Removes and prunes one batch.
  ///
  /// - Returns: how many rows went or were marked; 0 when nothing is old.
  /// - Throws: ``StoreError``; nothing was changed.
  package func turn() throws -> Int {
    let now = time.now()
    let (count, unseen) = try store.write { transaction in
      (try removeOld(in: transaction, now: now), try pruneUnseen(in: transaction, now: now))
    }
    removed.add(count)
    pruned.add(unseen)
    if unseen > 0 { log.info("tokens not seen for long are pruned", ["count": "\(unseen)"]) }
    return count + unseen
  }

  private func removeOld(in transaction: any StoreTransaction, now: UnixTime) throws -> Int {
    let limit = Self.batchMax
    return try transaction.removeDeliveries(settledBefore: now - kept, limit: limit)
      + transaction.removeHistory(before: now - kept, limit: limit)
      + transaction.removeEnded(expiredBefore: now - kept, limit: Self.endedMax)
      + transaction.removeNotifications(createdBefore: now - kept, limit: limit)
      + transaction.removeRegistrations(prunedBefore: now - Self.prunedKept, limit: limit)
      + transaction.removeSubscriptions(prunedBefore: now - Self.prunedKept, limit: limit)
      + transaction.removeFCM(
        prunedBefore: now - Self.prunedKept, deliveredBefore: now - kept, limit: limit)
  }

  /// A mark first, as with every pruning: registering again, or `lockstep tokens restore`, takes it
  /// back.
  private func pruneUnseen(in transaction: any StoreTransaction, now: UnixTime) throws -> Int {
    let androids = try transaction.pruneFCM(
      registeredBefore: now - life.device, because: TokenLife.reason, at: now,
      limit: Self.batchMax)
    return try TokenKind.allCases.reduce(androids) { count, kind in
      try count
        + transaction.prune(
          kind, registeredBefore: now - life.life(of: kind), because: TokenLife.reason, at: now,
          limit: Self.batchMax)
    }
  }

  /// Runs until `stop` is raised. A store that is away is waited out.
  package func run(until stop: StopSignal) {
    while !stop.isRaised {
      do {
        let more = try turn() > 0
        stop.wait(atMost: more ? Self.breath : Self.pause)
      } catch {
        log.warning("old records stay for now", ["because": "\(error)"])
        stop.wait(atMost: Self.pause)
      }
    }
  }
}
