import Pipeline
import Synchronization
import Vocabulary

/// A clock that a test moves by hand.
final class MovableTime: TimeSource {
  private let passed = Mutex(Duration.zero)

  func now() -> UnixTime { World.start + passed.withLock { $0 } }
  func elapsed() -> Duration { passed.withLock { $0 } }
  func advance(_ span: Duration) { passed.withLock { $0 += span } }
}
