import HTTPServing
import Pipeline

/// What a handler decided: the answer, and the event to store in the same transaction.
struct Answer {
  let response: HTTPResponse
  /// Nil when nothing happened that others should hear of.
  let event: OutboxEvent?
  /// What is to be counted once it is stored.
  let onCommit: () -> Void

  init(
    _ response: HTTPResponse, event: OutboxEvent? = nil, onCommit: @escaping () -> Void = {}
  ) {
    self.response = response
    self.event = event
    self.onCommit = onCommit
  }
}

/// The second half of a handler: runs within one transaction of the store, which is rolled back
/// when it throws, and may be done again from the beginning: it changes nothing but rows.
typealias Work = (any StoreTransaction) throws -> Answer
