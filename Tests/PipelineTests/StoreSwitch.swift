import Pipeline
import Synchronization
import TestSupport

/// A store whose commits fail while it is away.
final class StoreSwitch: Sendable {
  private let away = Mutex(false)

  var isAway: Bool {
    get { away.withLock { $0 } }
    set { away.withLock { $0 = newValue } }
  }

  func store() -> InMemoryStore {
    InMemoryStore { [self] in
      if isAway { throw StoreError("disk full") }
    }
  }
}
