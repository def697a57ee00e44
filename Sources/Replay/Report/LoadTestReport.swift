import Foundation
import Vocabulary

/// How a run went: what `report.json` holds and the page shows.
package struct LoadTestReport: Hashable, Sendable, Codable {
  package struct Percentiles: Hashable, Sendable, Codable {
    package var count = 0
    /// Milliseconds; nil when nothing was measured.
    package var p50: Double?
    package var p90: Double?
    package var p99: Double?
    package var largest: Double?

    init(_ histogram: LatencyHistogram) {
      count = histogram.count
      func percentile(_ share: Double) -> Double? {
        histogram.percentile(share).map { ($0 * 10).rounded() / 10 }
      }
      (p50, p90, p99) = (percentile(0.5), percentile(0.9), percentile(0.99))
      largest = histogram.count > 0 ? histogram.largest : nil
    }
  }

  package struct LatencyPoint: Hashable, Sendable, Codable {
    /// Seconds since the run began.
    package let at: Double
    package let latency: Percentiles
  }

  /// What happened in each second.
  package struct RatePoint: Hashable, Sendable, Codable {
    package let at: Double
    /// Confirmed events, per second.
    package var events = 0.0
    /// Pushes that the stand-in for APNs took, per second.
    package var pushes = 0.0
  }

  package struct DepthPoint: Hashable, Sendable, Codable {
    package let at: Double
    /// Messages that are ready, by queue; only those that hold some.
    package let ready: [String: Int]
  }

  package struct UsagePoint: Hashable, Sendable, Codable {
    package let at: Double
    package let usage: [String: ProcessUsage]
  }

  package var run = ""
  package var file = ""
  package var source = ""
  package var pace = ""
  package var begunAt = UnixTime(milliseconds: 0)
  /// Seconds from the first event to the last one's confirm.
  package var playedForSeconds = 0.0
  /// Seconds from the first event until nothing waited any more; nil when it took too long.
  package var drainedAfterSeconds: Double?
  package var phones = 0
  /// The first event of the file that was not played; nil when all were.
  package var resumeFrom: Int?
  /// Of the event → the answer of APNs, with a token that was known when it happened.
  package var latency = Percentiles(LatencyHistogram())
  /// The same of what a card had missed when it began.
  package var catchingUp = Percentiles(LatencyHistogram())
  package var latencyOverTime: [LatencyPoint] = []
  package var rates: [RatePoint] = []
  package var depths: [DepthPoint] = []
  package var usage: [UsagePoint] = []
  package var verdict = LedgerVerdict()
  /// What was remarkable, in words: of the file, the phones and the run.
  package var notes: [String] = []

  enum CodingKeys: String, CodingKey {
    case run, file, source, pace, phones, latency, rates, depths, usage, verdict, notes
    case begunAt = "begun_at"
    case playedForSeconds = "played_for_seconds"
    case drainedAfterSeconds = "drained_after_seconds"
    case resumeFrom = "resume_from"
    case catchingUp = "catching_up"
    case latencyOverTime = "latency_over_time"
  }

  package init() {}

  /// Events per second while it played.
  package var eventsPerSecond: Double {
    playedForSeconds > 0 ? Double(verdict.accepted) / playedForSeconds : 0
  }

  /// Events per second until nothing waited: what this installation carried.
  package var carriedPerSecond: Double? {
    drainedAfterSeconds.flatMap { $0 > 0 ? Double(verdict.accepted) / $0 : nil }
  }
}

// MARK: Of one run

extension LoadTestReport {
  init(
    _ settings: LoadTest.Settings, summary: RecordingSummary, phones: PhoneMaking.Report,
    position: Player.Position, book: RunBook, playedFor: Duration, drainedAfter: Duration?,
    verdict: LedgerVerdict, storeTrouble: String?, wasStopped: Bool
  ) {
    run = settings.names.run
    file = URL(filePath: settings.path).lastPathComponent
    source = summary.header?.source ?? ""
    pace = settings.pace.words
    begunAt = book.begunAt
    playedForSeconds = Self.rounded(playedFor)
    drainedAfterSeconds = drainedAfter.map(Self.rounded)
    self.phones = phones.made
    resumeFrom = position.played < summary.events ? position.played : nil
    self.verdict = verdict
    let pages = book.read { $0 }
    latency = Percentiles(pages.allLatencies)
    catchingUp = Percentiles(pages.catchingUp)
    latencyOverTime = pages.latencies.points.map {
      LatencyPoint(at: $0.at, latency: Percentiles($0.slot))
    }
    rates = Self.rates(pages)
    depths = pages.depths.points.map {
      DepthPoint(at: $0.at, ready: $0.slot.filter { $0.value > 0 })
    }
    usage = pages.usage.points.map { UsagePoint(at: $0.at, usage: $0.slot) }
    notes = Self.notes(summary, phones, pages)
    if drainedAfter == nil {
      notes.append("after \(settings.drainMax) something still waited: the verdict is early")
    }
    if let storeTrouble { notes.append("the store could not be asked: \(storeTrouble)") }
    if wasStopped { notes.append("stopped before the end of the file") }
  }

  /// Seconds, to a thousandth.
  private static func rounded(_ span: Duration) -> Double { Double(span.milliseconds) / 1000 }

  private static func rates(_ pages: RunBook.Pages) -> [RatePoint] {
    var points: [Double: RatePoint] = [:]
    for (at, count) in pages.published.points {
      points[at, default: RatePoint(at: at)].events += Double(count) / pages.published.width
    }
    for (at, count) in pages.pushes.points {
      points[at, default: RatePoint(at: at)].pushes += Double(count) / pages.pushes.width
    }
    return points.values.sorted { $0.at < $1.at }
  }

  private static func notes(
    _ summary: RecordingSummary, _ phones: PhoneMaking.Report, _ pages: RunBook.Pages
  ) -> [String] {
    var notes = summary.notes.map { "recording, \($0)" }
    if summary.noteCount > summary.notes.count {
      notes.append("\(summary.noteCount - summary.notes.count) more notes on the recording")
    }
    if summary.usersLeftOut > 0 {
      notes.append("\(summary.usersLeftOut) users got no phone: there are too many")
    }
    for (app, count) in summary.unplayed.sorted(by: { $0.key < $1.key }) {
      notes.append("\(count) events of \(app) were not played: no contract of it is known here")
    }
    if phones.unregistered > 0 {
      notes.append("\(phones.unregistered) phones were not registered at once")
    }
    if pages.republished > 0 {
      notes.append("\(pages.republished) events were offered again after the broker went away")
    }
    if pages.refused > 0 {
      notes.append("\(pages.refused) times the broker refused an event (a full queue)")
    }
    if pages.pushesMissed > 0 {
      notes.append("\(pages.pushesMissed) pushes left the simulator's log before they were read")
    }
    return notes
  }
}
