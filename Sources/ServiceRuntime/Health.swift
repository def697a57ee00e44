import Synchronization

/// Whether a process serves, as `/readyz` tells it.
package enum Readiness: Hashable, Sendable {
  case ok
  /// Serves, but somebody should look.
  case degraded([String])
  /// Does not serve.
  case notReady([String])
}

/// What the loops of a process say about themselves. Each part has at most one trouble.
package final class Health: Sendable {
  package enum Effect: Hashable, Sendable { case degrades, stopsServing }

  private let troubles = Mutex<[String: (reason: String, effect: Effect)]>([:])

  package init() {}

  /// `trouble`: nil when the part is well again.
  package func report(
    _ part: String, trouble: String?, effect: Effect = .stopsServing
  ) {
    troubles.withLock { $0[part] = trouble.map { (reason: $0, effect: effect) } }
  }

  package var readiness: Readiness {
    let now = troubles.withLock { $0 }.sorted { $0.key < $1.key }
    guard !now.isEmpty else { return .ok }
    let because = now.map { "\($0.key): \($0.value.reason)" }
    return now.contains { $0.value.effect == .stopsServing }
      ? .notReady(because) : .degraded(because)
  }
}
