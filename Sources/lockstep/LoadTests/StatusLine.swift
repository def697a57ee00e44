import Foundation
import ServiceRuntime

/// One line that tells how far something is: written over itself on a terminal, now and then as a
/// line of its own elsewhere.
final class StatusLine {
  private static let redrawing: Duration = .milliseconds(100)

  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let interval: Duration
  private var shownAt: Duration?
  private var isOpen = false

  /// `every`: how often where there is no terminal.
  init(every interval: Duration) { self.interval = interval }

  /// `elapsed`: a clock that never steps.
  func show(_ text: @autoclosure () -> String, elapsed: Duration) {
    let pause = isTerminal ? Self.redrawing : interval
    if let shownAt, elapsed - shownAt < pause { return }
    shownAt = elapsed
    if isTerminal {
      write("\r\(text())\u{1B}[K")
      isOpen = true
    } else {
      write("\(text())\n")
    }
  }

  /// Leaves the line as it is; what follows begins a new one.
  func end() {
    if isOpen { write("\n") }
    isOpen = false
    shownAt = nil
  }

  private func write(_ text: String) { StandardStream.error.write(text) }
}
