import Foundation
import Glibc
import ServiceRuntime

/// What `Tests/Benchmarks/push` runs: the stand-in that everybody pushes to, our transport alone,
/// and our whole sender. Each prints one line of JSON.
enum Bench {
  struct Usage: Error, CustomStringConvertible {
    let description =
      "wanted: stand-in DIR | transport PORT CA PUSHES"
      + " | faults PUSHES DIR | sender PORT CA PUSHES AMQP_URL QUEUES_FILE DIR"
  }

  static func run(_ words: [String]) throws {
    switch (words.first, words.count) {
    case ("stand-in", 2): try StandIn.serve(directory: words[1])
    case ("transport", 4):
      let server = try Server(port: words[1], authorityFile: words[2])
      try TransportBench.run(server, pushes: number(words[3]))
    case ("faults", 3): try FaultBench.run(pushes: number(words[1]), directory: words[2])
    case ("sender", 7):
      let server = try Server(port: words[1], authorityFile: words[2])
      try SenderBench(
        server, pushes: number(words[3]), brokerURL: words[4], queuesFile: words[5],
        directory: words[6]
      ).run()
    default: throw Usage()
    }
  }

  private static func number(_ text: String) throws -> Int {
    guard let number = Int(text), number > 0 else { throw Usage() }
    return number
  }
}

/// Where the stand-in is.
struct Server {
  let url: URL
  let authorityFile: String

  init(port: String, authorityFile: String) throws {
    guard let url = URL(string: "https://127.0.0.1:\(port)") else { throw Bench.Usage() }
    self.url = url
    self.authorityFile = authorityFile
  }
}

/// What this process has used since it was made.
struct Meter {
  private let wall = monotonic()
  private let cpu = Meter.cpu()

  /// Processor time of all threads, user and system.
  private static func cpu() -> Duration {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return .seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + .microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
  }

  private static func monotonic() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// Resident memory of this process, in MiB.
  static var resident_MiB: Double {
    // Without /proc there is nothing to report.
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?
      .split(separator: " ")
    return Double(fields?[1] ?? "").map { $0 * 4096 / 1_048_576 } ?? 0
  }

  struct Reading {
    let wall: Duration
    let cpu: Duration

    /// One line of JSON.
    func report(_ name: String, pushes: Int, _ more: [String: Double] = [:]) {
      let seconds = wall / .seconds(1)
      var values: [String: Double] = [
        "pushes": Double(pushes), "seconds": seconds, "per_second": Double(pushes) / seconds,
        "cpu_us_per_push": cpu / .microseconds(1) / Double(pushes),
        "resident_mib": Meter.resident_MiB,
      ]
      values.merge(more) { _, new in new }
      let members = values.sorted { $0.key < $1.key }
        .map { "\"\($0.key)\":\(($0.value * 100).rounded() / 100)" }
      print("{\"name\":\"\(name)\"," + members.joined(separator: ",") + "}")
      fflush(nil)
    }
  }

  func reading() -> Reading { Reading(wall: Self.monotonic() - wall, cpu: Self.cpu() - cpu) }
}
