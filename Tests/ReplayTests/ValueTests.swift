import Foundation
import Sessions
import TestSupport
import Testing
import Vocabulary

@testable import Replay

@Suite struct PaceTests {
  @Test func `speeds and rates are read with and without their unit`() {
    #expect(Pace(speed: "10x") == .speed(10) && Pace(speed: "0.5") == .speed(0.5))
    #expect(Pace(rate: "2000/s") == .rate(2000) && Pace(rate: "7") == .rate(7))
    for text in ["", "x", "0x", "-1", "nan", "inf", "10/s", "1e9"] {
      #expect(Pace(speed: text) == nil, "\(text)")
    }
    for text in ["", "/s", "0", "-5/s", "10x", "nan"] {
      #expect(Pace(rate: text) == nil, "\(text)")
    }
  }

  @Test(arguments: [
    (Pace.speed(10), 3, 20.0, 2.0), (.speed(0.5), 3, 20, 40), (.speed(10), 3, -5, 0),
    (.rate(100), 3, 20, 0.03), (.max, 3, 20, 0),
  ]) func `an event is due when its pace says`(
    pace: Pace, place: Int, offset: Double, due: Double
  ) {
    #expect(pace.due(place, offset: .seconds(offset)) == .seconds(due))
  }

  @Test func `only the broker knows how long the fastest takes`() {
    #expect(Pace.max.length(100, span: .seconds(10)) == nil)
    #expect(Pace.rate(10).length(101, span: .seconds(1)) == .seconds(10))
    #expect(Pace.speed(2).length(5, span: .seconds(10)) == .seconds(5))
    #expect(Pace.speed(2).length(0, span: .zero) == .zero)
  }
}

@Suite struct RunProgressTests {
  @Test func `it tells rate and time left`() {
    var progress = RunProgress("events", total: 1000)
    #expect(progress.left == nil)
    for second in 0...4 {
      progress.update(done: second * 100, elapsed: .seconds(second))
    }
    #expect(progress.rate == 100)
    #expect(progress.left == .seconds(6))
    #expect(progress.line == "█████████░░░░░░░░░░░░░░░ 40 %  400 of 1000 events  100/s  0:06 left")
    progress.update(done: 1000, elapsed: .seconds(6))
    #expect(progress.left == .zero)
  }

  @Test func `a known length tells better than the rate`() {
    var progress = RunProgress("events", total: 10, length: .seconds(3700))
    progress.update(done: 1, elapsed: .seconds(30))
    #expect(progress.line.hasSuffix("1:01:10 left"))
  }

  @Test func `nothing to do is done`() {
    #expect(RunProgress("events", total: 0).line.contains("100 %"))
  }
}

@Suite struct RevGapsTests {
  @Test(arguments: [
    ([1, 2, 3], 0), ([4, 5], 0), ([1, 4], 2), ([1, 4, 5, 9], 5), ([1, 3, 2], 0), ([1, 2, 2], 0),
    ([5, 1], 0), ([1, 3, 2, 2], 0), ([1, 3, 1_000_007, 1_000_009], 2),
  ]) func `a jump counts as missed until what was missed comes`(revs: [Int], missed: Int) {
    var gaps = RevGaps()
    let session = SessionID("cs_1")
    #expect(revs.reduce(0) { $0 + gaps.missed(before: $1, of: session) } == missed)
  }

  @Test func `it forgets the oldest sessions and stays bounded`() {
    var gaps = RevGaps()
    for number in 0...RevGaps.sessionsMax {
      _ = gaps.missed(before: 1, of: SessionID("cs_\(number)"))
    }
    #expect(gaps.missed(before: 5, of: SessionID("cs_0")) == 0)
    #expect(gaps.missed(before: 5, of: SessionID("cs_\(RevGaps.sessionsMax)")) == 3)
  }
}

@Suite struct LatencyHistogramTests {
  @Test func `percentiles are at most nine percent too high`() throws {
    var histogram = LatencyHistogram()
    for value in 1...10_000 { histogram.add(Double(value)) }
    for share in [0.01, 0.5, 0.9, 0.99, 1] {
      let wanted = share * 10_000
      let told = try #require(histogram.percentile(share))
      #expect(told >= wanted * 0.999 && told <= wanted * 1.1, "\(share): \(told)")
    }
    #expect(histogram.largest == 10_000 && histogram.count == 10_000)
  }

  @Test func `two together are as one`() {
    var (first, second, both) = (LatencyHistogram(), LatencyHistogram(), LatencyHistogram())
    for value in [1.0, 5, 70] { first.add(value) }
    for value in [0.0, 3000, 9e12] { second.add(value) }
    for value in [1.0, 5, 70, 0, 3000, 9e12] { both.add(value) }
    first.add(second)
    #expect(first == both)
    #expect(LatencyHistogram().percentile(0.5) == nil)
  }

  @Test func `slots double their width instead of their number`() {
    var slots = TimeSlots<Int> { $0 + $1 }
    for second in 0..<3000 { slots.change(at: Double(second), empty: 0) { $0 += 1 } }
    #expect(slots.width == 8)
    #expect(slots.slots.count <= TimeSlots<Int>.slotsMax)
    #expect(slots.points.reduce(0) { $0 + $1.slot } == 3000)
    #expect(slots.points[1].at == 8 && slots.points[1].slot == 8)
  }
}

@Suite struct ProcessTimesTests {
  @Test func `the system's line is read, whatever the process is called`() throws {
    let stat =
      "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 150 13 14 15 16 17 18 19 20 512 22 23"
    let times = try #require(
      ProcessTimes(stat: stat, ticksPerSecond: 100, pageBytes: 4096, elapsed: .seconds(10)))
    #expect(times.seconds == 4 && times.megabytes == 2)
    let later = try #require(
      ProcessTimes(
        stat: stat.replacing(" 250 150 ", with: " 300 200 "), ticksPerSecond: 100,
        pageBytes: 4096, elapsed: .seconds(12)))
    #expect(later.usage(since: times) == ProcessUsage(cpu: 0.5, megabytes: 2))
    #expect(
      ProcessTimes(stat: "12 a", ticksPerSecond: 100, pageBytes: 1, elapsed: .zero) == nil)
  }
}
