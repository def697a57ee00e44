import Foundation
import Glibc
import Pipeline
import ServiceRuntime
import Vocabulary

/// Made on the thread that looks: gives how much waits in each queue, nil when the broker does not
/// answer.
package typealias DepthLook = @Sendable () -> () -> [String: Int]?

/// Looks once a second at how much waits in the queues and what each process takes. One thread
/// runs it.
final class Sampler: Sendable {
  private static let interval: Duration = .seconds(1)

  private let book: RunBook
  private let processes: [String: Int32]
  private let time: any TimeSource
  private let depths: DepthLook

  init(
    book: RunBook, processes: [String: Int32], time: any TimeSource,
    depths: @escaping DepthLook
  ) {
    self.book = book
    self.processes = processes
    self.time = time
    self.depths = depths
  }

  func run(until stop: StopSignal) {
    var before: [String: ProcessTimes] = [:]
    let look = depths()
    while true {
      let second = book.seconds(time.now())
      if let found = look() {
        book.change { pages in
          pages.depthsNow = found
          pages.depths.change(at: second, empty: [:]) { slot in
            slot.merge(found) { max($0, $1) }
          }
        }
      }
      var usage: [String: ProcessUsage] = [:]
      for (name, pid) in processes {
        guard let now = ProcessTimes(of: pid, elapsed: time.elapsed()) else { continue }
        if let earlier = before[name] { usage[name] = now.usage(since: earlier) }
        before[name] = now
      }
      if !usage.isEmpty {
        book.change { pages in
          pages.usage.change(at: second, empty: [:]) { $0.merge(usage) { _, later in later } }
        }
      }
      guard !stop.isRaised else { return }
      stop.wait(atMost: Self.interval)
    }
  }
}

/// What the system has counted of one process.
struct ProcessTimes: Hashable {
  let seconds: Double
  let megabytes: Double
  let elapsed: Duration

  /// Nil when there is no such process any more.
  init?(of pid: Int32, elapsed: Duration) {
    // A process that has ended has no such file.
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else {
      return nil
    }
    self.init(
      stat: text, ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))),
      pageBytes: Double(sysconf(Int32(_SC_PAGESIZE))), elapsed: elapsed)
  }

  /// Reads the text of `/proc/<pid>/stat`; the name in brackets may hold anything.
  init?(stat: String, ticksPerSecond: Double, pageBytes: Double, elapsed: Duration) {
    guard let bracket = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: bracket)...].split(separator: " ")
    // Counted from the state, which is field 3 of proc(5): utime 14, stime 15, rss 24.
    guard fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
      let pages = Double(fields[21])
    else { return nil }
    seconds = (user + system) / ticksPerSecond
    megabytes = pages * pageBytes / 1_048_576
    self.elapsed = elapsed
  }

  func usage(since earlier: ProcessTimes) -> ProcessUsage {
    let span = max(0.001, (elapsed - earlier.elapsed).secondsAndFraction)
    let cpu = max(0, seconds - earlier.seconds) / span
    return ProcessUsage(
      cpu: (cpu * 1000).rounded() / 1000, megabytes: (megabytes * 10).rounded() / 10)
  }
}
