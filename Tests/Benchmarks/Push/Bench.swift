import Foundation
import Glibc
import ServiceRuntime

/// What `Tests/Benchmarks/push` runs: the stand-in that everybody pushes to, our transport alone,
/// our whole sender, whose jobs another process has put into the queue, and what
/// `Tests/Benchmarks/workers` does. Each that measures prints one line of JSON.
enum Bench {
  struct Usage: Error, CustomStringConvertible {
    let description =
      "wanted: stand-in DIR | transport PORT CA PUSHES"
      + " | faults PUSHES ROUNDS DIR | jobs PUSHES AMQP_URL QUEUES_FILE DIR"
      + " | sender PORT CA PUSHES AMQP_URL QUEUES_FILE DIR"
      + " | fill AMQP_URL QUEUES_FILE FROM TO | loop AMQP_URL QUEUES_FILE MESSAGES"
      + " | builder AMQP_URL QUEUES_FILE MESSAGES DIR"
  }

  static func run(_ words: [String]) throws {
    switch (words.first, words.count) {
    case ("stand-in", 2): try StandIn.serve(directory: words[1])
    case ("transport", 4):
      let server = try Server(port: words[1], authorityFile: words[2])
      try TransportBench.run(server, pushes: number(words[3]))
    case ("faults", 4):
      try FaultBench.run(
        pushes: number(words[1]), rounds: number(words[2]), directory: words[3])
    case ("jobs", 5):
      try SenderJobs(
        SenderPlace(brokerURL: words[2], queuesFile: words[3], directory: words[4])
      ).put(number(words[1]))
    case ("sender", 7):
      try SenderBench(
        SenderPlace(brokerURL: words[4], queuesFile: words[5], directory: words[6]),
        server: Server(port: words[1], authorityFile: words[2]), pushes: number(words[3])
      ).run()
    case ("fill", 5): try workers(words[1], words[2], words[4]).fill(from: Int(words[3]) ?? 0)
    case ("loop", 4): try workers(words[1], words[2], words[3]).loop()
    case ("builder", 5): try workers(words[1], words[2], words[3]).builder(directory: words[4])
    default: throw Usage()
    }
  }

  private static func workers(_ url: String, _ queuesFile: String, _ messages: String) throws
    -> WorkersBench
  {
    try WorkersBench(brokerURL: url, queuesFile: queuesFile, messages: number(messages))
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
    let resident_MiB: Double

    /// One line of JSON. `memory`: resident memory at even steps of the run, in MiB.
    func report(
      _ name: String, pushes: Int, _ more: [String: Double] = [:], memory: [Double] = []
    ) {
      let seconds = wall / .seconds(1)
      var values: [String: Double] = [
        "pushes": Double(pushes), "seconds": seconds, "per_second": Double(pushes) / seconds,
        "cpu_us_per_push": cpu / .microseconds(1) / Double(pushes),
      ]
      values.merge(more) { _, new in new }
      let members = values.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\(Self.text($0.value))" }
      let points = (memory.isEmpty ? [resident_MiB] : memory).map(Self.text)
      let all = members + ["\"resident_mib\":[\(points.joined(separator: ","))]"]
      print("{\"name\":\"\(name)\"," + all.joined(separator: ",") + "}")
      fflush(nil)
    }

    private static func text(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
  }

  func reading() -> Reading {
    Reading(
      wall: Self.monotonic() - wall, cpu: Self.cpu() - cpu, resident_MiB: Self.resident_MiB)
  }
}
