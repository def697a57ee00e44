import Vocabulary

/// Tells when a service is down rather than a push unlucky: many pushes of one lane fail for
/// reasons that are not theirs (5xx, no answer), for longer than one lost connection explains.
package struct FailureBreaker: Hashable, Sendable {
  /// Trips at this many failures …
  package static let failuresMin = 20
  /// … within this time …
  package static let window: Duration = .seconds(30)
  /// … when they are at least this part of the answers …
  package static let failedShareMin = 0.5
  /// … and did not all come within this time: a connection that dies takes all that is in flight
  /// with it, and the next one may be well.
  package static let spanMin: Duration = .seconds(3)

  private struct Second: Hashable {
    let number: Int64
    var succeeded = 0
    var failed = 0
  }

  /// The last ``window``, oldest first.
  private var seconds: [Second] = []
  private var firstFailureAt: UnixTime?

  package init() {}

  /// APNs answered, whatever it thought of the push.
  package mutating func succeeded(now: UnixTime) {
    note(now)
    seconds[seconds.count - 1].succeeded += 1
  }

  /// - Returns: whether it trips; then it counts from nothing again.
  package mutating func failed(now: UnixTime) -> Bool {
    note(now)
    seconds[seconds.count - 1].failed += 1
    let first = firstFailureAt ?? now
    firstFailureAt = first
    let failed = seconds.reduce(0) { $0 + $1.failed }
    let all = seconds.reduce(0) { $0 + $1.failed + $1.succeeded }
    guard failed >= Self.failuresMin, Double(failed) >= Double(all) * Self.failedShareMin,
      now - first >= Self.spanMin
    else { return false }
    self = FailureBreaker()
    return true
  }

  private mutating func note(_ now: UnixTime) {
    if let last = seconds.last, last.number == now.seconds { return }
    // A clock that was set back makes the past the future: it says nothing any more.
    if let last = seconds.last, last.number > now.seconds { self = FailureBreaker() }
    let oldest = (now - Self.window).seconds
    if let first = seconds.first, first.number <= oldest {
      seconds.removeAll { $0.number <= oldest }
      if let failing = seconds.first(where: { $0.failed > 0 }) {
        firstFailureAt = UnixTime(seconds: failing.number)
      } else {
        firstFailureAt = nil
      }
    }
    seconds.append(Second(number: now.seconds))
  }
}
