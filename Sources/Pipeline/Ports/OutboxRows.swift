import Vocabulary

/// One event that waits for the broker's confirm.
package struct OutboxEvent: Hashable, Sendable {
  /// The order of commits; 0 before it is stored.
  package let sequence: Int64
  package let message: Message
  /// The key of the events exchange: the event's type.
  package let routingKey: String
  package let storedAt: UnixTime

  package init(sequence: Int64 = 0, message: Message, routingKey: String, storedAt: UnixTime) {
    self.sequence = sequence
    self.message = message
    self.routingKey = routingKey
    self.storedAt = storedAt
  }
}

package protocol OutboxRows {
  func append(_ event: OutboxEvent) throws
  /// Takes the oldest events that nobody holds at `now` and holds them until `until`.
  func leaseEvents(atMost count: Int, now: UnixTime, until: UnixTime) throws -> [OutboxEvent]
  /// Removes events that the broker confirmed.
  func removeEvents(_ sequences: [Int64]) throws
  /// Gives leased events free again.
  func releaseEvents(_ sequences: [Int64]) throws
  /// How many events wait, and since when the oldest does.
  func outboxDepth() throws -> (events: Int, oldest: UnixTime?)
}
