import Vocabulary

/// When something last happened to each of many tokens, in memory that never grows.
///
/// A token may be kept in any of a few places, which its hash names. It takes the one that was used
/// longest ago, so that what is forgotten when there is no room is old, though not always the
/// oldest. Tokens are told apart by their hash of 64 bits alone.
struct TokenMoments: Sendable {
  /// Few enough to lie side by side in one cache line.
  private static let placesOfOne = 4

  private struct Place {
    /// A token whose hash is 0 finds a moment long past, which is as good as none.
    var hash = 0
    var moment = UnixTime(milliseconds: .min)
  }

  private var places: [Place]

  /// `count`: how many tokens are kept, a power of two.
  init(count: Int) {
    precondition(count >= Self.placesOfOne && count & (count - 1) == 0, "\(count) places")
    places = Array(repeating: Place(), count: count)
  }

  /// Nil for a token that nothing is known of, any more or yet.
  func moment(of token: PushToken) -> UnixTime? {
    for index in range(of: token) where places[index].hash == token.hash {
      return places[index].moment
    }
    return nil
  }

  mutating func note(_ token: PushToken, at moment: UnixTime) {
    var chosen = range(of: token).lowerBound
    for index in range(of: token) {
      if places[index].hash == token.hash {
        chosen = index
        break
      }
      if places[index].moment < places[chosen].moment { chosen = index }
    }
    places[chosen] = Place(hash: token.hash, moment: moment)
  }

  private func range(of token: PushToken) -> Range<Int> {
    let first = token.hash & (places.count - 1) & ~(Self.placesOfOne - 1)
    return first..<first + Self.placesOfOne
  }
}
