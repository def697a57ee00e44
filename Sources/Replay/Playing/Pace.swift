import Foundation
import Vocabulary

/// How fast a recording is played.
package enum Pace: Hashable, Sendable {
  /// The recorded gaps, so many times faster.
  case speed(Double)
  /// So many events a second, whatever the gaps were.
  case rate(Double)
  /// As fast as the broker confirms.
  case max

  package static let speeds = 0.01...10_000.0
  package static let rates = 0.01...1_000_000.0

  /// `10x` or `10`. Nil for anything else.
  package init?(speed text: String) {
    guard let number = Double(text.hasSuffix("x") ? String(text.dropLast()) : text),
      Self.speeds.contains(number)
    else { return nil }
    self = .speed(number)
  }

  /// `2000/s` or `2000`. Nil for anything else.
  package init?(rate text: String) {
    guard let number = Double(text.hasSuffix("/s") ? String(text.dropLast(2)) : text),
      Self.rates.contains(number)
    else { return nil }
    self = .rate(number)
  }

  /// When an event is due, from the begin of the run. `place` counts the events played in this run,
  /// from 0; `offset` is the recorded time since the first of them.
  package func due(_ place: Int, offset: Duration) -> Duration {
    switch self {
    case .speed(let factor): .seconds(Swift.max(0, offset.secondsAndFraction) / factor)
    case .rate(let perSecond): .seconds(Double(place) / perSecond)
    case .max: .zero
    }
  }

  /// How long `count` events that were recorded within `span` take; nil when only the broker knows.
  package func length(_ count: Int, span: Duration) -> Duration? {
    if case .max = self { return nil }
    return count == 0 ? .zero : due(count - 1, offset: span)
  }

  package var words: String {
    switch self {
    case .speed(let factor): "\(Self.short(factor))× the recorded speed"
    case .rate(let perSecond): "\(Self.short(perSecond)) events/s"
    case .max: "as fast as the broker confirms"
    }
  }

  private static func short(_ number: Double) -> String {
    number == number.rounded() ? "\(Int(number))" : "\(number)"
  }
}
