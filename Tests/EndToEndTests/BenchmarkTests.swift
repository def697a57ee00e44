import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Each part of the benchmarks, with so little work that it tells no speed: that it measures at
  /// all. A part that meets what it did not expect ends with 1.
  @Suite struct BenchmarkTests {
    private static let bench = Programs.directory.appending(path: "lockstep-bench")
    private let directory = FileManager.default.temporaryDirectory
      .appending(path: "lockstep-bench-\(UUID().uuidString)")

    init() throws {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private func folder(_ name: String) throws -> String {
      let place = directory.appending(path: name)
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      return place.path(percentEncoded: false)
    }

    /// What a line of JSON says, as far as it is looked at here.
    private struct Row: Decodable {
      let name: String
      let perSecond: Double?
      let p99Ms: Double?
      let pushes: Double?
      let jobs: Double?
    }

    /// - Returns: the lines of JSON that it printed.
    private func measured(_ arguments: String...) throws -> [Row] {
      let outcome = try Programs.run(Self.bench, arguments, within: .seconds(120))
      try #require(outcome.code == 0, "\(arguments): \(outcome.output) \(outcome.errors)")
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      return try outcome.output.split(separator: "\n").filter { $0.hasPrefix("{") }
        .map { try decoder.decode(Row.self, from: Data($0.utf8)) }
    }

    @Test func `what faults cost good tokens is told for every fault`() throws {
      let rows = try measured("faults", "200", "1", folder("faults"))
      let faults = [
        "clean", "goaway_every_300", "bad_1_percent", "bad_5_percent", "reset_1_percent", "all",
      ]
      #expect(rows.map(\.name) == faults.map { "faults_" + $0 })
      #expect(rows.allSatisfy { ($0.p99Ms ?? 0) > 0 })
    }

    @Test func `transport and sender push to the stand-in`() throws {
      let (server, store) = (try folder("server"), try folder("store"))
      let output = directory.appending(path: "stand-in")
      let standIn = try Child(
        Self.bench, ["stand-in", server], environment: [:], output: output, errors: output)
      defer { standIn.kill() }
      let written = { try? String(contentsOfFile: server + "/port", encoding: .utf8) }
      try #require(becomesTrue(within: .seconds(20)) { written()?.isEmpty == false })
      let port = try #require(written()).trimmingCharacters(in: .whitespacesAndNewlines)
      let authority = server + "/ca.pem"
      let queues = Programs.queuesFile.path(percentEncoded: false)
      let broker = try BrokerUnderTest()

      let transport = try measured("transport", port, authority, "300")
      #expect(transport.map(\.name) == ["transport"])
      #expect((transport.first?.perSecond ?? 0) > 0)
      _ = try measured("jobs", "300", broker.url, queues, store)
      let sender = try measured("sender", port, authority, "300", broker.url, queues, store)
      #expect(sender.map(\.pushes) == [300])
    }

    @Test func `loop and builder make two messages of each`() throws {
      let queues = Programs.queuesFile.path(percentEncoded: false)
      let broker = try BrokerUnderTest()
      _ = try measured("fill", broker.url, queues, "0", "200")
      let loop = try measured("loop", broker.url, queues, "200")
      #expect(loop.map(\.jobs) == [400])
      _ = try measured("fill", broker.url, queues, "0", "200")
      let builder = try measured("builder", broker.url, queues, "200", folder("builder"))
      #expect(builder.map(\.jobs) == [400])
    }
  }
}
