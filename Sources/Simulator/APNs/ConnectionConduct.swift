import HTTP2
import Synchronization
import Vocabulary

/// What the stand-in remembers of its connections: which are poisoned, and which are held to one
/// stream. Shared by nobody but the server's thread and its tests.
package final class ConnectionConduct: Sendable {
  /// Connections remembered at most; the oldest are forgotten, which heals them.
  package static let connectionsMax = 4096

  private struct State {
    var poisoned: [Int: Fault] = [:]
    var narrowed: Set<Int> = []
  }

  private let state = Mutex(State())

  package init() {}

  /// What happens to a push on this connection when `fault` has struck it.
  package func fault(on connection: Int, struck fault: Fault?) -> Fault? {
    state.withLock { state in
      if let poison = state.poisoned[connection] { return poison }
      guard let fault, fault.action == .poison else { return fault }
      let poison = Fault(
        .answer, match: fault.match, status: fault.status ?? 500,
        reason: fault.reason ?? "InternalServerError")
      if state.poisoned.count >= Self.connectionsMax, let oldest = state.poisoned.keys.min() {
        state.poisoned[oldest] = nil
      }
      state.poisoned[connection] = poison
      return poison
    }
  }

  /// The reply, with the SETTINGS that go before it while refusals narrow a connection.
  package func reply(_ reply: HTTP2Reply, status: Int, on connection: Int) -> HTTP2Reply {
    state.withLock { state in
      switch status {
      case 400:
        if state.narrowed.count >= Self.connectionsMax { state.narrowed.removeAll() }
        return state.narrowed.insert(connection).inserted ? .withStreams(1, then: reply) : reply
      case 200:
        return state.narrowed.remove(connection) != nil ? .withStreams(nil, then: reply) : reply
      default: return reply
      }
    }
  }
}
