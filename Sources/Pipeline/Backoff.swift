import Vocabulary

/// How long to wait before trying a lost connection again: full jitter, so that a fleet does not
/// come back at one moment.
package struct Backoff: Sendable {
  private let least: Duration
  private let most: Duration
  private var failures = 0
  private let random: @Sendable (ClosedRange<Double>) -> Double

  /// No wait is shorter than `least`, which also is the base that doubles; none is longer than
  /// `most`.
  package init(
    least: Duration = .milliseconds(500), most: Duration = .seconds(10),
    random: @escaping @Sendable (ClosedRange<Double>) -> Double = { Double.random(in: $0) }
  ) {
    self.least = least
    self.most = most
    self.random = random
  }

  /// The wait after one more failure.
  package mutating func next() -> Duration {
    failures = min(failures + 1, 20)
    let ceiling = min(least * Double(1 << failures), most)
    let base = least.secondsAndFraction
    return .seconds(random(base...max(base, ceiling.secondsAndFraction)))
  }

  package mutating func reset() { failures = 0 }
}
