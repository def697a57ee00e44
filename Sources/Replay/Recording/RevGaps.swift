import Vocabulary

/// Notices missed events by the sessions' own count: a rev that jumps. A value.
struct RevGaps {
  /// Sessions remembered; beyond it the half seen longest ago is forgotten.
  static let sessionsMax = 100_000
  /// A jump this far is no missed event: after a restore sessions go on so far ahead.
  static let leapMin = 1_000_000

  private struct Place {
    var rev: Int
    var turn: Int
    /// Revs below that have not come.
    var open = 0
  }

  private var places: [SessionID: Place] = [:]
  private var turn = 0

  /// - Returns: how many events of this session were missed before this one; -1 when this is one
  ///   that was counted as missed and only came late. A session seen for the first time may have
  ///   begun before the recording did, and counts none.
  mutating func missed(before rev: Int, of session: SessionID) -> Int {
    turn += 1
    guard var place = places[session] else {
      if places.count >= Self.sessionsMax { forget() }
      places[session] = Place(rev: rev, turn: turn)
      return 0
    }
    defer { places[session] = place }
    place.turn = turn
    if rev > place.rev {
      let missed = rev - place.rev - 1
      place.rev = rev
      guard missed < Self.leapMin else { return 0 }
      place.open += missed
      return missed
    }
    guard rev < place.rev, place.open > 0 else { return 0 }
    place.open -= 1
    return -1
  }

  private mutating func forget() {
    let turns = places.values.map(\.turn).sorted()
    let middle = turns[turns.count / 2]
    places = places.filter { $0.value.turn > middle }
  }
}
