import Pipeline
import Synchronization
import TestSupport
import Vocabulary

/// The wall clock of the machines that Lockstep runs on. It may be wrong, and jump; what time it is
/// for people, phones and Apple does not change by that.
final class ServerClock: TimeSource {
  private let time: ManualTime
  private let ahead = Mutex<Duration>(.zero)

  init(_ time: ManualTime) { self.time = time }

  func now() -> UnixTime { time.now() + ahead.withLock { $0 } }
  func elapsed() -> Duration { time.elapsed() }

  /// How far it is ahead from now on; negative: behind.
  func set(ahead span: Duration) { ahead.withLock { $0 = span } }
}

/// The same on one of the machines: no two agree to the millisecond.
final class MachineClock: TimeSource {
  private let clock: ServerClock
  private let behind: Duration

  init(_ clock: ServerClock, behind: Duration) {
    self.clock = clock
    self.behind = behind
  }

  func now() -> UnixTime { clock.now() - behind }
  func elapsed() -> Duration { clock.elapsed() }
}
