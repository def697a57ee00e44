import Glibc
import Synchronization

/// Ends a process whose thread is inside one call for too long: such a thread cannot be ended
/// alone, and a supervisor starts the process again.
///
/// One watches over one thread, with a thread of its own that looks once a second.
package final class Watchdog: Sendable {
  private static let period_ms: Int32 = 1000

  private struct Armed {
    /// In `elapsed`'s time.
    let deadline: Duration
    let call: String
  }

  private let armed = Mutex<Armed?>(nil)
  private let elapsed: @Sendable () -> Duration
  private let onOverdue: @Sendable (String) -> Void

  /// `elapsed`: a clock that never steps. `onOverdue`: gets what the thread is inside of; does not
  /// return in a program.
  package init(
    elapsed: @escaping @Sendable () -> Duration, onOverdue: @escaping @Sendable (String) -> Void
  ) {
    self.elapsed = elapsed
    self.onOverdue = onOverdue
  }

  /// One that writes to the log and ends the process at once, with the code for an error of ours.
  package static func endingTheProcess(elapsed: @escaping @Sendable () -> Duration, log: Log)
    -> Watchdog
  {
    Watchdog(elapsed: elapsed) { call in
      log.error("held for too long, the process ends", ["inside": call])
      _exit(ExitCode.software.rawValue)
    }
  }

  /// Starts looking, for as long as the process lives.
  package func start() {
    OwnedThread.start(named: "watchdog") { [self] in
      while true {
        poll(nil, 0, Self.period_ms)
        look()
      }
    }
  }

  /// The thread enters a call that may take as long as `limit`.
  package func arm(for limit: Duration, doing call: String) {
    let deadline = elapsed() + limit
    armed.withLock { $0 = Armed(deadline: deadline, call: call) }
  }

  package func disarm() { armed.withLock { $0 = nil } }

  /// One look at the clock.
  package func look() {
    let now = elapsed()
    let overdue = armed.withLock { armed -> String? in
      guard let current = armed, current.deadline < now else { return nil }
      armed = nil
      return current.call
    }
    if let overdue { onOverdue(overdue) }
  }
}
