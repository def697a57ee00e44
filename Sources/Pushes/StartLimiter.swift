import Vocabulary

/// Spends a phone's own budget of push-to-starts: it takes about ten in a short time and then drops
/// them in silence, `frequentPushesEnabled` or not. A start that is over the budget waits.
///
/// The token stands for the phone: an app has one push-to-start token on a device, the same for
/// every attributes type.
///
/// Source: developer.apple.com/forums, thread 799505.
package struct StartLimiter: Sendable {
  /// Starts that one phone gets …
  package static let startsMax = 10
  /// … within this time.
  package static let window: Duration = .seconds(300)
  /// Phones remembered at most, some 70 bytes each; beyond it those that were started longest ago
  /// are forgotten, which only means that they may get more.
  package let phonesMax: Int

  /// When starts were accepted, the oldest first; no more than ``startsMax`` of one token, by its
  /// hash.
  private var accepted: [Int: [UnixTime]] = [:]

  package init(phonesMax: Int = 100_000) { self.phonesMax = phonesMax }

  /// How long a start to this token has to wait; nil when it may go now.
  package func wait(for token: PushToken, now: UnixTime) -> Duration? {
    guard let moments = accepted[token.hash], moments.count >= Self.startsMax,
      let oldest = moments.first
    else { return nil }
    let wait = oldest + Self.window - now
    // A clock set back holds nobody longer than the window.
    return wait > .zero ? min(wait, Self.window) : nil
  }

  /// APNs accepted a start to this token.
  package mutating func accepted(_ token: PushToken, now: UnixTime) {
    if accepted.count >= phonesMax, accepted[token.hash] == nil { forget(now: now) }
    accepted[token.hash, default: []].append(now)
    let excess = (accepted[token.hash]?.count ?? 0) - Self.startsMax
    if excess > 0 { accepted[token.hash]?.removeFirst(excess) }
  }

  private mutating func forget(now: UnixTime) {
    accepted = accepted.filter { now - ($0.value.last ?? now) < Self.window }
    guard accepted.count >= phonesMax else { return }
    let newest = accepted.values.compactMap(\.last).sorted()
    let middle = newest[newest.count / 2]
    accepted = accepted.filter { ($0.value.last ?? middle) > middle }
  }
}
