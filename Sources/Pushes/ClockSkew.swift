import Vocabulary

/// Our clock and APNs' are further apart than a provider token bears: then APNs refuses all of
/// them, however right the key is.
package struct ClockSkew: Hashable, Sendable, CustomStringConvertible {
  /// Clocks this far apart are right enough. A provider token may be an hour old.
  package static let toleratedMax: Duration = .seconds(300)

  /// How far our clock is ahead; negative: behind. Exact to about a second.
  package let ahead: Duration

  /// Nil when the clocks agree, or the answer does not say what time it is there.
  /// `now`: when it was read, by our clock.
  package init?(of answer: PushAnswer, now: UnixTime) {
    guard let date = answer.date else { return nil }
    ahead = now - date
    guard max(ahead, .zero - ahead) > Self.toleratedMax else { return nil }
  }

  /// `our clock is 12 min ahead of APNs'`.
  package var description: String {
    let minutes = Int((ahead.secondsAndFraction.magnitude / 60).rounded())
    let amount = minutes < 120 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    return "our clock is \(amount) \(ahead > .zero ? "ahead of" : "behind") APNs'"
  }
}
