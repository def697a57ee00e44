import Synchronization
import Vocabulary

/// Where steps of traces wait until somebody exports them. Any thread may record.
///
/// A trace is for looking, so nothing ever waits for it: when more steps come than go, the newest
/// are dropped, and counted.
package final class Tracer: Sendable {
  /// Spans that wait at most: some 5 MB.
  package static let waitingMax = 10_000

  /// Of the traces that begin here, how many are kept; 0 to 1.
  package let share: Double
  private let waiting = Mutex<[Span]>([])
  private let dropped: Counter

  package init(share: Double = 1, metrics: Metrics) {
    self.share = share
    dropped = metrics.counter(
      "lockstep_spans_dropped_total", help: "Steps of traces that could not be exported.")
  }

  /// Keeps the span, if its trace is to be kept.
  package func record(_ span: @autoclosure () -> Span, of context: TraceContext) {
    guard context.isSampled else { return }
    let span = span()
    let kept = waiting.withLock { spans in
      guard spans.count < Self.waitingMax else { return false }
      spans.append(span)
      return true
    }
    if !kept { dropped.add() }
  }

  /// Hands out the oldest spans; they no longer wait.
  package func take(atMost count: Int) -> [Span] {
    waiting.withLock { spans in
      let taken = Array(spans.prefix(count))
      spans.removeFirst(taken.count)
      return taken
    }
  }

  /// Counts spans that nobody takes.
  package func drop(_ count: Int) { dropped.add(count) }
}
