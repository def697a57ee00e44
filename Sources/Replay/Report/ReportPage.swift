import Foundation
import Vocabulary

/// The report as one HTML page: no script, nothing from outside, light and dark as the reader's
/// system is.
package struct ReportPage {
  private let report: LoadTestReport

  package init(_ report: LoadTestReport) { self.report = report }

  package var html: String {
    let title = "Load test \(report.run)"
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(Plot.escaped(title))</title>
      <style>
      \(String(decoding: PackageResources.report_css, as: UTF8.self))
      </style>
      </head>
      <body>
      <main>
      \(head)
      \(ledger)
      \(plots.map(\.svg).joined(separator: "\n"))
      \(usageTable)
      \(faults)
      \(notes)
      </main>
      </body>
      </html>

      """
  }

  private var head: String {
    let verdict = report.verdict
    let begun = "\(report.begunAt.contractForm) UTC"
    let facts: [(String, String)] = [
      ("events", "\(verdict.accepted)"), ("sessions", "\(verdict.sessions)"),
      ("activities", "\(verdict.activities)"),
      ("phones", "\(report.phones)"), ("played in", Self.time(report.playedForSeconds)),
      ("at", "\(Plot.number(report.eventsPerSecond)) events/s"),
      (
        "nothing waited after",
        report.drainedAfterSeconds.map { Self.time($0) } ?? "(still something)"
      ),
      ("median", Self.milliseconds(report.latency.p50)),
      ("99 %", Self.milliseconds(report.latency.p99)),
    ]
    let tiles = facts.map { "<div><b>\(Plot.escaped($1))</b><span>\($0)</span></div>" }
    return """
      <header>
      <p class="verdict \(verdict.isGood ? "good" : "bad")">\(verdictWords)</p>
      <h1>Load test \(Plot.escaped(report.run))</h1>
      <p>\(Plot.escaped(report.file)), \(Plot.escaped(report.pace)); begun \(begun).
      \(Plot.escaped(report.source))</p>
      <div class="tiles">\(tiles.joined())</div>
      </header>
      """
  }

  private var verdictWords: String {
    let verdict = report.verdict
    return "\(verdict.lost) lost · \(verdict.doubled) doubled · "
      + "\(verdict.outOfOrder) out of order"
  }

  private var ledger: String {
    let verdict = report.verdict
    let rows: [(String, Int, String, Bool)] = [
      ("delivered", verdict.delivered, "a push of this state reached the phone", false),
      ("superseded", verdict.superseded, "a newer state reached it instead", false),
      ("expired", verdict.expired, "its deadline passed first", false),
      ("dead", verdict.dead, "lies in a dead queue", false),
      ("without a card", verdict.cardless, "over before a card could begin", false),
      ("lost", verdict.lost, "the phone shows something older", true),
      ("doubled", verdict.doubled, "second starts and invitations", true),
      ("out of order", verdict.outOfOrder, "an older state after a newer one", true),
    ]
    let lines = rows.map { name, count, meaning, mustBeZero in
      let style = mustBeZero ? (count == 0 ? " class=\"good\"" : " class=\"bad\"") : ""
      return "<tr\(style)><th>\(name)</th><td>\(count)</td><td>\(meaning)</td></tr>"
    }
    return """
      <section><h2>Ledger</h2>
      <p>\(verdict.accepted) events accepted make \(verdict.entries) views, one for each participant
      who had not left, and for each recipient whose card of an activity they change.
      \(verdict.repeated) states came once more, which changes nothing;
      phones complained \(verdict.complaints) times.</p>
      <table>\(lines.joined(separator: "\n"))</table></section>
      """
  }

  // MARK: Plots

  private var plots: [Plot] {
    let played = [(at: report.playedForSeconds, text: "played")]
    let latency = report.latencyOverTime
    // The same for all, so that what happened at one moment stands one below the other.
    let length = max(1, report.drainedAfterSeconds ?? report.playedForSeconds)
    func points(_ value: (LoadTestReport.Percentiles) -> Double?) -> [(at: Double, value: Double)] {
      latency.compactMap { point in value(point.latency).map { (point.at, max(1, $0)) } }
    }
    return [
      Plot(
        title: "From the event to the answer of APNs", unit: "milliseconds",
        lines: [
          .init(name: "median", style: 0, points: points(\.p50)),
          .init(name: "90 %", style: 1, points: points(\.p90)),
          .init(name: "99 %", style: 2, points: points(\.p99)),
        ], isLogarithmic: true, length: length, marks: played),
      Plot(
        title: "Rates", unit: "per second",
        lines: [
          .init(name: "events", style: 0, points: report.rates.map { ($0.at, $0.events) }),
          .init(name: "pushes", style: 3, points: report.rates.map { ($0.at, $0.pushes) }),
        ], length: length, marks: played),
      Plot(
        title: "Waiting in queues", unit: "messages", lines: depthLines, length: length,
        marks: played),
      Plot(
        title: "Processor", unit: "of one core", lines: usageLines(\.cpu), length: length,
        marks: played),
      Plot(
        title: "Memory", unit: "megabytes", lines: usageLines(\.megabytes), length: length,
        marks: played),
    ]
  }

  private var depthLines: [Plot.Line] {
    var largest: [String: Int] = [:]
    for point in report.depths {
      for (queue, depth) in point.ready { largest[queue] = max(largest[queue] ?? 0, depth) }
    }
    let shown = largest.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(8).map(\.key)
    return shown.enumerated().map { place, queue in
      Plot.Line(
        name: queue, style: place,
        points: report.depths.map { ($0.at, Double($0.ready[queue] ?? 0)) })
    }
  }

  private var processes: [String] {
    Set(report.usage.flatMap(\.usage.keys)).sorted()
  }

  private func usageLines(_ value: KeyPath<ProcessUsage, Double>) -> [Plot.Line] {
    processes.enumerated().map { place, name in
      Plot.Line(
        name: name, style: place % 8,
        points: report.usage.compactMap { point in
          point.usage[name].map { (point.at, $0[keyPath: value]) }
        })
    }
  }

  private var usageTable: String {
    guard !processes.isEmpty else { return "" }
    let rows = processes.map { name in
      let all = report.usage.compactMap { $0.usage[name] }
      let mean = all.map(\.cpu).reduce(0, +) / Double(max(1, all.count))
      let busiest = all.map(\.cpu).max() ?? 0
      let memory = all.map(\.megabytes).max() ?? 0
      return "<tr><th>\(Plot.escaped(name))</th><td>\(String(format: "%.2f", mean))</td>"
        + "<td>\(String(format: "%.2f", busiest))</td><td>\(Int(memory)) MB</td></tr>"
    }
    return """
      <section><h2>Processes</h2>
      <table><tr><th></th><th>cores, mean</th><th>cores, most</th><th>memory, most</th></tr>
      \(rows.joined(separator: "\n"))</table></section>
      """
  }

  // MARK: Words

  private var faults: String {
    guard !report.verdict.faults.isEmpty else { return "" }
    let rows = report.verdict.faults.map {
      "<tr><td>\(Plot.escaped($0.session))</td><td>\(Plot.escaped($0.user))</td>"
        + "<td>\(Plot.escaped($0.what))</td></tr>"
    }
    return "<section><h2>Faults</h2><table>\(rows.joined(separator: "\n"))</table></section>"
  }

  private var notes: String {
    guard !report.notes.isEmpty else { return "" }
    let lines = report.notes.map { "<li>\(Plot.escaped($0))</li>" }
    return "<section><h2>Notes</h2><ul>\(lines.joined(separator: "\n"))</ul></section>"
  }

  private static func time(_ seconds: Double) -> String {
    seconds < 60 ? "\(Plot.short(seconds)) s" : RunProgress.clock(.seconds(seconds)) + " min"
  }

  private static func milliseconds(_ value: Double?) -> String {
    guard let value else { return "–" }
    return value < 10_000 ? "\(Int(value.rounded())) ms" : "\(Plot.short(value / 1000)) s"
  }
}
