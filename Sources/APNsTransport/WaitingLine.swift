/// The flights that wait for a connection: first those that APNs never processed, the oldest first,
/// then those that never left, in the order in which they came.
///
/// A connection that is shut down gives its flights back in any order. Were they sent in that
/// order, an unlucky one could be among the last each time, and be given up.
struct WaitingLine {
  private var fresh = Queue<FlightID>()
  /// The oldest last, once it is sorted.
  private var returned: [FlightID] = []
  private var isSorted = true

  var count: Int { fresh.count + returned.count }

  mutating func append(_ id: FlightID) { fresh.append(id) }

  mutating func giveBack(_ id: FlightID) {
    returned.append(id)
    isSorted = returned.count == 1
  }

  mutating func popFirst() -> FlightID? {
    sort()
    return returned.popLast() ?? fresh.popFirst()
  }

  /// Forgets those at the head that have ended meanwhile.
  mutating func forgetEnded(_ isLive: (FlightID) -> Bool) {
    sort()
    while let first = returned.last, !isLive(first) { returned.removeLast() }
    while let first = fresh.first, !isLive(first) { _ = fresh.popFirst() }
  }

  mutating func removeAll() {
    fresh.removeAll()
    returned.removeAll()
  }

  private mutating func sort() {
    guard !isSorted else { return }
    returned.sort { $0.number > $1.number }
    isSorted = true
  }
}
