import Synchronization

/// Whether a process serves, as `/readyz` tells it.
package enum Readiness: Hashable, Sendable {
  case ok
  /// Serves, but somebody should look.
  case degraded([String])
  /// Does not serve.
  case notReady([String])

  /// For people, on one line.
  package var line: String {
    switch self {
    case .ok: "ok"
    case .degraded(let reasons): "degraded: \(reasons.joined(separator: "; "))"
    case .notReady(let reasons): "not ready: \(reasons.joined(separator: "; "))"
    }
  }
}

/// What the loops of a process say about themselves. Each part has at most one trouble.
package struct Health: Sendable {
  package enum Effect: Hashable, Sendable { case degrades, stopsServing }

  private final class Troubles: Sendable {
    let all = Mutex<[String: (reason: String, effect: Effect)]>([:])
  }

  private let troubles: Troubles
  private let scope: String?
  private let effect: Effect?

  package init() {
    troubles = Troubles()
    scope = nil
    effect = nil
  }

  private init(_ troubles: Troubles, scope: String, effect: Effect?) {
    self.troubles = troubles
    self.scope = scope
    self.effect = effect
  }

  /// The same health, seen by one of several loops: its parts are its own, and none clears the
  /// trouble of another. `name` stands before the parts; `effect` is that of all its troubles, nil
  /// leaves it to each report.
  package func scoped(to name: String, effect: Effect? = nil) -> Health {
    Health(troubles, scope: name, effect: effect)
  }

  /// `trouble` is nil when the part is well again.
  package func report(_ part: String, trouble: String?, effect: Effect = .stopsServing) {
    let name = scope.map { "\($0): \(part)" } ?? part
    let reported = trouble.map { (reason: $0, effect: self.effect ?? effect) }
    troubles.all.withLock { $0[name] = reported }
  }

  package var readiness: Readiness {
    let now = troubles.all.withLock { $0 }.sorted { $0.key < $1.key }
    guard !now.isEmpty else { return .ok }
    let because = now.map { "\($0.key): \($0.value.reason)" }
    return now.contains { $0.value.effect == .stopsServing }
      ? .notReady(because) : .degraded(because)
  }
}
