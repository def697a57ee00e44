import Foundation
import Pipeline
import Replay
import ServiceRuntime
import Vocabulary

/// Tells on standard error how far a load test is.
final class Telling {
  private let pace: Pace
  private let resumeFrom: Int
  private let time: SystemTime
  private let line = StatusLine(every: .seconds(5))
  private var progress: RunProgress?
  private var phase = ""

  init(pace: Pace, resumeFrom: Int, time: SystemTime) {
    self.pace = pace
    self.resumeFrom = resumeFrom
    self.time = time
  }

  func tell(_ step: LoadTest.Step) {
    switch step {
    case .read(let summary): read(summary)
    case .phones(let made, let count):
      enter("phones")
      line.show("\(made) of \(count) phones", elapsed: time.elapsed())
    case .playing(let events, let elapsed):
      enter("playing")
      progress?.update(done: events, elapsed: elapsed)
      line.show(progress?.line ?? "", elapsed: time.elapsed())
    case .draining(let behind, let waiting):
      enter("draining")
      line.show(
        "played; \(waiting) wait in queues, \(behind) cards are behind", elapsed: time.elapsed())
    }
  }

  func end() { line.end() }

  private func read(_ summary: RecordingSummary) {
    let count = max(0, summary.events - resumeFrom)
    progress = RunProgress("events", total: count, length: pace.length(count, span: summary.span))
    say("\(summary.events) events and \(summary.users.count) people, played \(pace.words)")
    for (app, count) in summary.unplayed.sorted(by: { $0.key < $1.key }) {
      say("not played: \(count) events of \(app), of which no contract is known here")
    }
    for note in summary.notes { say("\(note)") }
    if summary.noteCount > summary.notes.count {
      say("and \(summary.noteCount - summary.notes.count) more")
    }
  }

  private func enter(_ name: String) {
    if phase != name, !phase.isEmpty { line.end() }
    phase = name
  }

  private func say(_ text: String) { StandardStream.error.write("\(text)\n") }
}

extension LoadTestReport {
  /// For a terminal.
  var lines: [String] {
    func text(_ value: Double?) -> String { value.map { "\(Int($0.rounded())) ms" } ?? "–" }
    func seconds(_ value: Double) -> String { String(format: "%.1f s", value) }
    let drained =
      drainedAfterSeconds.map {
        "nothing waited after \(seconds($0)), that is \(Int((carriedPerSecond ?? 0).rounded()))/s"
      } ?? "something still waited at the end"
    return [
      "run \(run): \(verdict.accepted) events in \(seconds(playedForSeconds)), "
        + "\(Int(eventsPerSecond.rounded()))/s; \(drained)",
      "from event to answer: median \(text(latency.p50)), 90 % \(text(latency.p90)), "
        + "99 % \(text(latency.p99)), most \(text(latency.largest)) (\(latency.count) pushes)",
      verdict.words,
    ]
  }
}
