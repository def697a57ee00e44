import Foundation
import Glibc
import Vocabulary

/// What the operating system tells of this process, under the names that Prometheus' own libraries
/// give it.
package enum ProcessMetrics {
  package static func add(to metrics: Metrics, startedAt start: UnixTime) {
    let start_s = Double(start.milliseconds) / 1000
    metrics.reading(
      "process_start_time_seconds", help: "When the process started, seconds since 1970."
    ) { start_s }
    metrics.reading(
      "process_cpu_seconds_total", help: "User and system CPU time spent, seconds.",
      isCounter: true, cpuSeconds)
    metrics.reading(
      "process_resident_memory_bytes", help: "Resident memory, bytes.", residentBytes)
    metrics.reading("process_open_fds", help: "Open file descriptors.", openDescriptors)
    metrics.reading("process_max_fds", help: "Most open file descriptors.") {
      Double(descriptorsMax)
    }
  }

  /// Most file descriptors that this process may have open at once.
  package static var descriptorsMax: Int {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
  }

  @Sendable private static func cpuSeconds() -> Double {
    var spent = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent)
    return Double(spent.tv_sec) + Double(spent.tv_nsec) / 1e9
  }

  /// The second number of statm, in pages; 0 where there is no such file.
  @Sendable private static func residentBytes() -> Double {
    guard let statm = FileManager.default.contents(atPath: "/proc/self/statm") else { return 0 }
    let numbers = String(decoding: statm, as: UTF8.self).split(separator: " ")
    return numbers.count > 1 ? (Double(numbers[1]) ?? 0) * Double(sysconf(Int32(_SC_PAGESIZE))) : 0
  }

  @Sendable private static func openDescriptors() -> Double {
    // One is the look itself. No answer means that none can be opened any more, or no /proc.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return Double(max(0, names.count - 1))
  }
}
