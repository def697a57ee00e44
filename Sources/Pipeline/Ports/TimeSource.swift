import Glibc
import Vocabulary

/// The clock, as a parameter: tests and the simulation move it by hand.
package protocol TimeSource: Sendable {
  /// Wall-clock time; may step.
  func now() -> UnixTime
  /// Time since an arbitrary start; never steps.
  func elapsed() -> Duration
}

/// The machine's clock.
package struct SystemTime: TimeSource {
  package init() {}

  package func now() -> UnixTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  package func elapsed() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
