import Vocabulary

/// The waits between attempts, each longer than the one before. Attempts are counted from 1.
package struct RetryLadder: Hashable, Sendable {
  package struct Rung: Hashable, Sendable {
    package let name: String
    package let wait: Duration
    /// Where a copy is published to wait; several with slightly different waits spread the load.
    package let exchanges: [String]

    package init(name: String, wait: Duration, exchanges: [String]) {
      self.name = name
      self.wait = wait
      self.exchanges = exchanges
    }
  }

  package let rungs: [Rung]

  /// - Throws: ``RetryLadderError`` when there is no rung, or one is not longer than the last.
  package init(rungs: [Rung]) throws(RetryLadderError) {
    guard !rungs.isEmpty else { throw .empty }
    for (shorter, longer) in zip(rungs, rungs.dropFirst()) where longer.wait <= shorter.wait {
      throw .notRising(shorter: shorter.name, longer: longer.name)
    }
    self.rungs = rungs
  }

  /// Where a message waits after `attempts` attempts: its own rung, or the first that is not
  /// shorter than `least`. Nil above the top: it is dead.
  package func rung(afterAttempts attempts: Int, notBefore least: Duration = .zero) -> Rung? {
    precondition(attempts >= 1, "attempts count from 1")
    guard attempts <= rungs.count else { return nil }
    return rungs[(attempts - 1)...].first { $0.wait >= least } ?? rungs.last
  }

  /// Where a message waits that is not to climb: the first rung that is not shorter than `least`,
  /// or the last.
  package func rung(notBefore least: Duration) -> Rung {
    rungs.first { $0.wait >= least } ?? rungs[rungs.count - 1]
  }
}

package enum RetryLadderError: Error, Hashable, CustomStringConvertible {
  case empty
  case notRising(shorter: String, longer: String)

  package var description: String {
    switch self {
    case .empty: "a retry ladder needs at least one rung"
    case .notRising(let shorter, let longer):
      "rung \(longer) must wait longer than rung \(shorter) before it"
    }
  }
}
