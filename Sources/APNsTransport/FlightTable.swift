import HTTP2
import Pipeline

/// Names one flight for as long as it lasts: its place is used again, its generation is not.
struct FlightID: Hashable {
  let slot: Int
  let generation: UInt32
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
  private var generations: [UInt32] = []
  private var free: [Int] = []
  private(set) var count = 0

  mutating func insert(_ flight: Flight) -> FlightID {
    count += 1
    guard let slot = free.popLast() else {
      flights.append(flight)
      generations.append(0)
      return FlightID(slot: flights.count - 1, generation: 0)
    }
    flights[slot] = flight
    return FlightID(slot: slot, generation: generations[slot])
  }

  func isLive(_ id: FlightID) -> Bool {
    generations[id.slot] == id.generation && flights[id.slot] != nil
  }

  func id(slot: Int) -> FlightID { FlightID(slot: slot, generation: generations[slot]) }

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
    generations[slot] &+= 1
    free.append(slot)
    count -= 1
  }

  mutating func removeAll() {
    for slot in flights.indices where flights[slot] != nil { remove(slot: slot) }
  }
}
