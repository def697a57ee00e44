import Foundation
import Vocabulary

/// How far a run is, in one line: a bar, the rate of the last seconds, and the time left. A value.
package struct RunProgress: Hashable, Sendable {
  /// How far back the rate looks.
  private static let looking: Duration = .seconds(3)
  private static let barWidth = 24

  private let what: String
  private let total: Int
  /// Known beforehand; nil lets the rate tell.
  private let length: Duration?
  private var marks: [Mark] = []

  private struct Mark: Hashable {
    let done: Int
    let elapsed: Duration
  }

  /// `what`: counted things, `events`.
  package init(_ what: String, total: Int, length: Duration? = nil) {
    self.what = what
    self.total = total
    self.length = length
  }

  /// `elapsed`: since the begin.
  package mutating func update(done: Int, elapsed: Duration) {
    if let last = marks.last, elapsed - last.elapsed < .milliseconds(100), marks.count > 1 {
      marks.removeLast()
    }
    marks.append(Mark(done: done, elapsed: elapsed))
    while marks.count > 2, elapsed - marks[0].elapsed > Self.looking { marks.removeFirst() }
  }

  /// Per second.
  package var rate: Double {
    guard let first = marks.first, let last = marks.last, last.elapsed > first.elapsed else {
      return 0
    }
    return Double(last.done - first.done) / (last.elapsed - first.elapsed).secondsAndFraction
  }

  /// Nil while nobody can know.
  package var left: Duration? {
    guard let last = marks.last else { return length }
    if last.done >= total { return .zero }
    if let length { return max(.zero, length - last.elapsed) }
    return rate > 0 ? .seconds(Double(total - last.done) / rate) : nil
  }

  package var line: String {
    let done = marks.last?.done ?? 0
    let share = total == 0 ? 1 : min(1, Double(done) / Double(total))
    let full = Int(share * Double(Self.barWidth))
    let bar =
      String(repeating: "█", count: full)
      + String(repeating: "░", count: Self.barWidth - full)
    let end = left.map { "\(Self.clock($0)) left" } ?? "time left unknown"
    return "\(bar) \(Int(share * 100)) %  \(done) of \(total) \(what)  \(Int(rate.rounded()))/s  "
      + end
  }

  /// `1:05`, `2:00:00`.
  static func clock(_ span: Duration) -> String {
    let seconds = Int(span.secondsAndFraction.rounded(.up))
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    let tail = String(repeating: "0", count: seconds % 60 < 10 ? 1 : 0) + "\(seconds % 60)"
    guard hours > 0 else { return "\(minutes):\(tail)" }
    return "\(hours):\(minutes < 10 ? "0" : "")\(minutes):\(tail)"
  }
}
