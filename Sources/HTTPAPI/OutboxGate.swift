import Synchronization

/// Stops mutations before the outbox outgrows its limit, without asking the store at each one.
///
/// Whoever counts the outbox (the relay) says the depth; what the API stores in between is added
/// here, so the limit holds also while the relay waits for its broker.
package final class OutboxGate: Sendable {
  /// In events.
  package let limit: Int
  private let depth = Atomic<Int>(0)

  package init(limit: Int = 1_000_000) { self.limit = limit }

  package var isFull: Bool { depth.load(ordering: .relaxed) >= limit }

  /// Sets what was counted.
  package func update(depth: Int) { self.depth.store(depth, ordering: .relaxed) }

  /// Counts one event stored.
  package func eventStored() { depth.wrappingAdd(1, ordering: .relaxed) }
}
