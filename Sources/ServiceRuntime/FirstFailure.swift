import Synchronization

/// Why a process stops by itself: the first reason that one of its threads gave.
package final class FirstFailure: Sendable {
  private let first = Mutex<CommandFailure?>(nil)

  package init() {}

  package var reason: CommandFailure? { first.withLock { $0 } }

  package func note(_ failure: CommandFailure) {
    first.withLock { $0 = $0 ?? failure }
  }
}
