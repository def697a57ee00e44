import TestSupport

/// As ``becomesTrue(within:_:)`` for looks that cost something: another process is asked at most
/// once every `pause`.
func becomesSeen(
  within limit: Duration, every pause: Duration = .milliseconds(20), _ look: () -> Bool
) -> Bool {
  var next = ContinuousClock.now
  return becomesTrue(within: limit) {
    guard ContinuousClock.now >= next else { return false }
    defer { next = ContinuousClock.now + pause }
    return look()
  }
}
