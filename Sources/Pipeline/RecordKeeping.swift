import ServiceRuntime
import Vocabulary

/// Removes records that have grown old: deliveries, mutations, builds and phone reports, and what
/// was pruned long ago. A little at a time, so that those who work wait for nothing.
///
/// Any number may run. One thread runs one.
package final class RecordKeeping {
  /// Rows of one kind removed in one transaction: others who write wait no longer than this takes.
  package static let batchMax = 500
  /// How long a token or subscription stays after it was pruned: until then it can be restored.
  package static let prunedKept: Duration = .seconds(30 * 24 * 3600)
  /// Between two batches while there is more.
  private static let breath: Duration = .milliseconds(200)
  /// Between two looks.
  private static let pause: Duration = .seconds(600)

  private let store: any Store
  private let kept: Duration
  private let time: any TimeSource
  private let log: Log
  private let removed: Counter

  /// `kept`: how long records of what happened are kept.
  package init(store: any Store, kept: Duration, time: any TimeSource, log: Log, metrics: Metrics) {
    self.store = store
    self.kept = kept
    self.time = time
    self.log = log
    removed = metrics.counter(
      "lockstep_records_removed_total", help: "Old records that were removed.")
  }

  /// Removes one batch.
  ///
  /// - Returns: how many rows went; 0 when nothing is old.
  /// - Throws: ``StoreError``; nothing was removed.
  package func turn() throws -> Int {
    let now = time.now()
    let count = try store.write { transaction in
      let limit = Self.batchMax
      return try transaction.removeDeliveries(settledBefore: now - kept, limit: limit)
        + transaction.removeHistory(before: now - kept, limit: limit)
        + transaction.removeRegistrations(prunedBefore: now - Self.prunedKept, limit: limit)
        + transaction.removeSubscriptions(prunedBefore: now - Self.prunedKept, limit: limit)
    }
    removed.add(count)
    return count
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
