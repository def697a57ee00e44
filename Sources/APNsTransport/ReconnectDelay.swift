/// How long to wait before the next connect, after connections that came to nothing: not at all
/// after the first, for a server that is being shut down may end a connection before its first
/// push; then doubling, with a random half so that many senders do not come back at once.
package struct ReconnectDelay: Sendable {
  package let least: Duration
  package let most: Duration
  /// Connections in a row on which no push was accepted.
  package private(set) var failures = 0

  package init(least: Duration, most: Duration) {
    self.least = least
    self.most = most
  }

  package mutating func succeeded() { failures = 0 }

  /// Counts one more failure.
  ///
  /// - Parameter chance: from 0 to 1.
  /// - Returns: nothing at the first; then between half and all of `least`, doubled with every
  ///   failure, `most` at most.
  package mutating func failed(chance: Double) -> Duration {
    failures += 1
    guard failures > 1 else { return .zero }
    let doubled = least * (1 << min(failures - 2, 20))
    return min(doubled, most) * (0.5 + chance / 2)
  }
}
