/// What a stage wants done with one delivery. The stage decides what, the worker decides when: it
/// knows the ladder and talks to the broker.
package struct Settlement: Hashable, Sendable {
  package let delivery: Delivery
  package let disposition: Disposition
  /// What goes out because of it; published and confirmed before the delivery is acknowledged.
  package let outgoing: [OutgoingMessage]

  package init(
    _ delivery: Delivery, _ disposition: Disposition, outgoing: [OutgoingMessage] = []
  ) {
    self.delivery = delivery
    self.disposition = disposition
    self.outgoing = outgoing
  }

  /// The same, and these go out too.
  func causing(_ more: [OutgoingMessage]) -> Settlement {
    more.isEmpty ? self : Settlement(delivery, disposition, outgoing: outgoing + more)
  }
}

package enum Disposition: Hashable, Sendable {
  /// Its effect is stored.
  case done
  /// A newer state is known: nothing to do.
  case stale
  /// A newer job for the same token exists, or the reason to send has gone.
  case superseded(because: String)
  /// Its deadline has passed.
  case expired
  /// Wait on the ladder, not shorter than `notBefore`, and come again.
  case retry(notBefore: Duration, because: String)
  /// Not its turn: wait in a rung not shorter than `notBefore` and come again, without counting an
  /// attempt, so that it holds no place in the worker and walks down no ladder. `mayHaveGoneOut`:
  /// on this visit it was sent, and nobody knows whether it was taken.
  case park(notBefore: Duration, mayHaveGoneOut: Bool = false)
  /// No repetition will help: a person looks at it.
  case dead(because: String)
  /// Not worked on: back to the queue without counting an attempt.
  case handBack

  /// All that ``outcome`` can be.
  package static let outcomes = [
    "done", "stale", "superseded", "expired", "retried", "parked", "dead", "handed_back",
  ]

  /// The `outcome` label of `lockstep_stage_messages_total`.
  package var outcome: String {
    switch self {
    case .done: "done"
    case .stale: "stale"
    case .superseded: "superseded"
    case .expired: "expired"
    case .retry: "retried"
    case .park: "parked"
    case .dead: "dead"
    case .handBack: "handed_back"
    }
  }
}
