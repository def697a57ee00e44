import Vocabulary

/// One event that waits for the broker's confirm.
package struct OutboxEvent: Hashable, Sendable {
  /// The order of commits; 0 before it is stored.
  package let sequence: Int64
  package let message: Message
  /// The key of the events exchange: the event's type.
  package let routingKey: String
  package let storedAt: UnixTime
  /// Events of one key never overtake each other; nil goes whenever it can.
  package let orderKey: String?
  /// How often the broker refused it while others went.
  package let tries: Int

  package init(
    sequence: Int64 = 0, message: Message, routingKey: String, storedAt: UnixTime,
    orderKey: String? = nil, tries: Int = 0
  ) {
    self.sequence = sequence
    self.orderKey = orderKey
    self.tries = tries
    self.message = message
    self.routingKey = routingKey
    self.storedAt = storedAt
  }
}

extension OutboxEvent {
  /// No event is held for longer. A hold that ends later was made before the clock was set back,
  /// and counts as none.
  package static let holdMax: Duration = .seconds(600)
}

package protocol OutboxRows {
  func append(_ event: OutboxEvent) throws
  /// Whether there are events that nobody holds at `now`: what ``leaseEvents(atMost:now:until:)``
  /// would take.
  func hasFreeEvents(now: UnixTime) throws -> Bool
  /// Takes the oldest events that nobody holds at `now` and holds them until `until`, at most
  /// ``OutboxEvent/holdMax`` from now. Behind one that is held, those of its key wait, unless it is
  /// parked.
  func leaseEvents(atMost count: Int, now: UnixTime, until: UnixTime) throws -> [OutboxEvent]
  /// Removes events that the broker confirmed.
  func removeEvents(_ sequences: [Int64]) throws
  /// Gives leased events free again.
  func releaseEvents(_ sequences: [Int64]) throws
  /// Counts one more try of each and holds them until `until`.
  ///
  /// `parking`: marks them as parked: those of their key no longer wait for them.
  func postponeEvents(_ sequences: [Int64], until: UnixTime, parking: Bool) throws
  /// How many events wait, parked ones included, and since when the oldest that is not parked does.
  func outboxDepth() throws -> (events: Int, oldest: UnixTime?)
  /// How many events are parked.
  func parkedEvents() throws -> Int
}
