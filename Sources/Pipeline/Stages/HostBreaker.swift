import Vocabulary

/// Keeps one push service that does not answer from holding up the others: each push to it would
/// wait for its deadline, and so few are in flight that soon all would be waiting there.
struct HostBreaker {
  /// Opens at so many pushes in a row without an answer.
  static let failuresMin = 20
  /// Between two pushes that try whether an open host answers again.
  static let probeInterval: Duration = .seconds(15)
  /// Hosts kept at most: there are few, but a wildcard lets strangers name some.
  private static let hostsMax = 1000

  private struct Failing {
    var failures = 0
    var nextProbeAt: UnixTime
  }

  private var hosts: [String: Failing] = [:]

  /// Whether a push to this host may go out now.
  mutating func permits(_ host: String, now: UnixTime) -> Bool {
    guard var failing = hosts[host], failing.failures >= Self.failuresMin else { return true }
    guard now >= failing.nextProbeAt else { return false }
    failing.nextProbeAt = now + Self.probeInterval
    hosts[host] = failing
    return true
  }

  /// - Returns: whether it was open.
  @discardableResult
  mutating func answered(_ host: String) -> Bool {
    (hosts.removeValue(forKey: host)?.failures ?? 0) >= Self.failuresMin
  }

  /// - Returns: whether that opened it.
  mutating func unanswered(_ host: String, now: UnixTime) -> Bool {
    if hosts.count > Self.hostsMax { hosts = [:] }
    let next = now + Self.probeInterval
    hosts[host, default: Failing(nextProbeAt: next)].failures += 1
    hosts[host]?.nextProbeAt = next
    return hosts[host]?.failures == Self.failuresMin
  }
}
