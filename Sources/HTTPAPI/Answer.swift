import HTTPServing
import Pipeline

/// What a handler decided: the answer, and the event to store in the same transaction.
struct Answer {
  let response: HTTPResponse
  /// Nil when nothing happened that others should hear of.
  let event: OutboxEvent?

  init(_ response: HTTPResponse, event: OutboxEvent? = nil) {
    self.response = response
    self.event = event
  }
}

/// The second half of a handler: runs within one transaction of the store, which is rolled back
/// when it throws.
typealias Work = (any StoreTransaction) throws -> Answer
