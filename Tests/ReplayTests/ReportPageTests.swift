import Foundation
import Testing
import Vocabulary

@testable import Replay

@Suite struct ReportPageTests {
  private func report() -> LoadTestReport {
    var report = LoadTestReport()
    report.run = "a1"
    report.file = "evening<1>.jsonl.gz"
    report.pace = Pace.speed(10).words
    report.playedForSeconds = 3
    report.drainedAfterSeconds = 4
    report.phones = 2
    var histogram = LatencyHistogram()
    for value in [10.0, 20, 30] { histogram.add(value) }
    report.latency = .init(histogram)
    report.latencyOverTime = [
      .init(at: 0, latency: .init(histogram)), .init(at: 1, latency: .init(histogram)),
    ]
    report.rates = [.init(at: 0, events: 10, pushes: 12), .init(at: 1, events: 11, pushes: 9)]
    report.depths = [.init(at: 0, ready: ["build": 3]), .init(at: 1, ready: [:])]
    report.usage = [.init(at: 1, usage: ["api": ProcessUsage(cpu: 0.25, megabytes: 40)])]
    report.verdict.accepted = 3
    report.notes = ["a note with <tags> & \"quotes\""]
    return report
  }

  @Test func `the page brings everything it needs, and nothing can break out of its texts`() {
    let html = ReportPage(report()).html
    for outside in ["<script", "<link", "src=", "href=", "url(", "@import", "http:", "https:"] {
      #expect(!html.contains(outside), "\(outside)")
    }
    #expect(html.contains("prefers-color-scheme: dark"))
    #expect(html.contains("evening&lt;1&gt;.jsonl.gz"))
    #expect(html.contains("a note with &lt;tags&gt; &amp; &quot;quotes&quot;"))
    #expect(html.contains("0 lost · 0 doubled · 0 out of order"))
    #expect(html.components(separatedBy: "<svg").count == 6)
  }

  @Test func `the verdict is the first thing to see when it is bad`() {
    var report = report()
    report.verdict.lost = 2
    report.verdict.faults = [.init(session: "cs_1", user: "u_1", what: "2 lost")]
    let html = ReportPage(report).html
    #expect(html.contains("<p class=\"verdict bad\">2 lost · 0 doubled · 0 out of order</p>"))
    #expect(html.contains("<td>cs_1</td><td>u_1</td><td>2 lost</td>"))
  }

  @Test func `an empty run has a page too`() {
    #expect(ReportPage(LoadTestReport()).html.contains("nothing was measured"))
  }

  @Test func `the report reads back`() throws {
    let report = report()
    #expect(try JSON.decode(LoadTestReport.self, from: JSON.encoded(report)) == report)
  }

  @Test(arguments: [
    (0.3, false, [0, 0.125, 0.25, 0.375, 0.5]), (7, false, [0, 2.5, 5, 7.5, 10]),
    (900, true, [1, 10, 100, 1000]), (0, true, [1, 10]),
  ]) func `a scale names round values`(largest: Double, isLogarithmic: Bool, ticks: [Double]) {
    #expect(Scale(largest: largest, isLogarithmic: isLogarithmic).ticks == ticks)
  }
}
