import Pipeline
import Synchronization
import Vocabulary

/// A clock that stands still until the test moves it.
package final class ManualTime: TimeSource {
  private struct Hands {
    var now: UnixTime
    var elapsed: Duration = .zero
  }

  private let hands: Mutex<Hands>

  package init(_ start: UnixTime = Samples.noon) { hands = Mutex(Hands(now: start)) }

  package func now() -> UnixTime { hands.withLock { $0.now } }
  package func elapsed() -> Duration { hands.withLock { $0.elapsed } }

  /// Time passes: both clocks go on.
  package func advance(by span: Duration) {
    hands.withLock {
      $0.now = $0.now + span
      $0.elapsed += span
    }
  }

  /// Somebody sets the wall clock; no time passes.
  package func step(by span: Duration) { hands.withLock { $0.now = $0.now + span } }
}
