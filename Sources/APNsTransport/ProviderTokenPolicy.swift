import Vocabulary

/// When a new provider token is made. Apple: not more than one in 20 minutes on a connection, none
/// older than an hour (developer.apple.com, "Establishing a token-based connection to APNs").
package struct ProviderTokenPolicy: Sendable {
  package static let refreshAge = Duration.seconds(50 * 60)
  package static let leastAge = Duration.seconds(20 * 60)
  /// A wall clock that moved by more against the monotonic one was set; `iat` was wrong.
  package static let stepTolerance = Duration.seconds(60)

  package enum Occasion: Hashable, Sendable {
    /// Somebody needs a token.
    case use
    /// APNs answered ExpiredProviderToken to a token of this generation.
    case expired(generation: Int)
    /// The key file holds another key: its tokens are counted anew.
    case keyChange
  }

  /// Of the present token; 0 before the first.
  package private(set) var generation = 0
  package private(set) var mintedAt = Duration.zero
  private var issuedAt = UnixTime(milliseconds: 0)
  /// One token may be made before its time, after the first 403. If that is refused too the clock
  /// is wrong and not the token: no further one comes early until one has served its time.
  private var mayMintEarly = true

  package init() {}

  /// Decides, and notes the new token as made when the answer is yes.
  ///
  /// `elapsed` is the monotonic clock, `now` the wall clock: the new token's `iat`.
  ///
  /// - Returns: whether a new token is to be made.
  package mutating func mints(_ occasion: Occasion, elapsed: Duration, now: UnixTime) -> Bool {
    let age = elapsed - mintedAt
    let isEarly = age < Self.leastAge
    let isDue: Bool
    switch occasion {
    case _ where generation == 0, .keyChange: isDue = true
    case .use:
      let drift = (now - issuedAt) - age
      let hasStepped = drift > Self.stepTolerance || drift < .zero - Self.stepTolerance
      isDue = age >= Self.refreshAge || (hasStepped && !isEarly)
    case .expired(let expired):
      isDue = expired == generation && (!isEarly || mayMintEarly)
    }
    guard isDue else { return false }
    if case .expired = occasion { mayMintEarly = false } else { mayMintEarly = true }
    generation += 1
    mintedAt = elapsed
    issuedAt = now
    return true
  }
}
