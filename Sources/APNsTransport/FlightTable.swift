import HTTP2
import Pipeline

/// Names one flight for as long as it lasts: its place is used again, its number is not. Numbers
/// rise in the order in which the transport took the flights.
struct FlightID: Hashable {
  let slot: Int
  let number: UInt64
}

/// One request from the moment the transport took it until it has a result.
struct Flight {
  var request: PushRequest
  var takenAt: Duration
  var submittedAt: Duration = .zero
  /// Nil while it waits.
  var connection: APNsConnection?
  var stream: ClientStream?
  var resends = 0
}

/// All flights. Places are used again, so that a flight costs no memory of its own.
struct FlightTable {
  private var flights: [Flight?] = []
  private var numbers: [UInt64] = []
  private var free: [Int] = []
  private var nextNumber: UInt64 = 0
  private(set) var count = 0

  mutating func insert(_ flight: Flight) -> FlightID {
    count += 1
    nextNumber += 1
    guard let slot = free.popLast() else {
      flights.append(flight)
      numbers.append(nextNumber)
      return FlightID(slot: flights.count - 1, number: nextNumber)
    }
    flights[slot] = flight
    numbers[slot] = nextNumber
    return FlightID(slot: slot, number: nextNumber)
  }

  func isLive(_ id: FlightID) -> Bool {
    numbers[id.slot] == id.number && flights[id.slot] != nil
  }

  func id(slot: Int) -> FlightID { FlightID(slot: slot, number: numbers[slot]) }

  /// The flight in a place that is taken.
  subscript(slot: Int) -> Flight {
    guard let flight = flights[slot] else { preconditionFailure("no flight in place \(slot)") }
    return flight
  }

  mutating func submitted(
    slot: Int, on connection: APNsConnection, stream: ClientStream, now: Duration
  ) {
    flights[slot]?.connection = connection
    flights[slot]?.stream = stream
    flights[slot]?.submittedAt = now
  }

  /// It waits again.
  mutating func returned(slot: Int) {
    flights[slot]?.resends += 1
    flights[slot]?.connection = nil
    flights[slot]?.stream = nil
  }

  mutating func remove(slot: Int) {
    flights[slot] = nil
    free.append(slot)
    count -= 1
  }

  mutating func removeAll() {
    for slot in flights.indices where flights[slot] != nil { remove(slot: slot) }
  }
}
