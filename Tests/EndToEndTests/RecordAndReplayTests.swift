import Foundation
import Glibc
import HTTPClient
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  /// The real programs: a session is recorded, the recorder is killed, and the file is played.
  @Suite struct RecordAndReplayTests {
    private let directory: URL

    init() throws {
      directory = FileManager.default.temporaryDirectory
        .appending(path: "lockstep-replay-test-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String {
      directory.appending(path: name).path(percentEncoded: false)
    }

    private static var evening: String {
      Programs.repository.appending(path: "Tests/ReplayTests/Recordings/evening.jsonl.gz")
        .path(percentEncoded: false)
    }

    private func start(
      _ arguments: [String], in installation: Installation, output name: String
    ) throws -> Child {
      let file = directory.appending(path: name)
      return try Child(
        Programs.lockstep, arguments, environment: installation.settings, output: file,
        errors: file)
    }

    private func printed(_ name: String) -> String {
      (try? String(contentsOf: directory.appending(path: name), encoding: .utf8)) ?? ""
    }

    private func replay(
      _ file: String, _ pace: String..., in installation: Installation, run: String
    ) throws -> Programs.Outcome {
      try Programs.run(
        Programs.lockstep,
        ["replay", file] + pace + [
          "--simulator", installation.simulatorURL, "--api", installation.apiURL, "--run", run,
          "--report", path("report-\(run)"),
        ], environment: installation.settings, within: .seconds(180))
    }

    private func report(_ run: String) throws -> JSONValue {
      try JSONValue(parsing: Data(contentsOf: URL(filePath: path("report-\(run)/report.json"))))
    }

    @Test func `A killed recorder leaves a file that can be played, without anybody's name`()
      throws
    {
      defer { try? FileManager.default.removeItem(at: directory) }
      let installation = try Installation(running: Role.separate + [.simulator])
      for user in CookSession.people { try installation.phones.add(user) }
      let recorder = try start(
        ["record", "--to", path("r.jsonl.gz")], in: installation, output: "record")
      try installation.wait(for: "the recorder to listen") {
        printed("record").contains(" info recording ")
      }
      let session = try CookSession.begin(in: installation)
      try session.playToProposals()
      let revs = try session.rev()
      // What was heard is on the disk a second later.
      try installation.wait(for: "the events to be on the disk") {
        let heard = try Programs.run(
          URL(filePath: "/bin/sh"), ["-c", "gzip -dc \(path("r.jsonl.gz")) 2>/dev/null; true"])
        return heard.output.components(separatedBy: "\"rev\":").count > revs
      }
      recorder.send(SIGKILL)
      _ = recorder.exitCode(within: .seconds(10))
      let text = try Programs.run(
        URL(filePath: "/bin/sh"), ["-c", "gzip -dc \(path("r.jsonl.gz")) 2>/dev/null; true"]
      ).output
      for word in ["dennis", "jaqueline", "Dennis", "Pilzrisotto", session.id] {
        #expect(!text.contains(word), "\(word) stands in the recording")
      }
      // The registry said who is reached by what.
      #expect(text.contains(#""tokens":["alert","la-pushToStart"]"#) && !text.contains("assumed"))
      let outcome = try replay(
        path("r.jsonl.gz"), "--speed", "2x", in: installation, run: "killed")
      #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)\(installation.logs())")
      #expect(outcome.errors.contains("the compressed file is cut"))
      let verdict = try report("killed")["verdict"]
      #expect(verdict?["accepted"]?.whole == revs)
      #expect(verdict?["lost"] == 0 && verdict?["doubled"] == 0)
      #expect(verdict?["out_of_order"] == 0 && verdict?["complaints"] == 0)
      // The session goes on: however slow this machine is, both phones must show its last state.
      #expect((verdict?["delivered"]?.whole ?? 0) >= 2)
    }

    @Test func `An interrupted replay says where it goes on, and loses nothing`() throws {
      defer { try? FileManager.default.removeItem(at: directory) }
      let installation = try Installation(running: Role.separate + [.simulator])
      let playing = try start(
        [
          "replay", Self.evening, "--rate", "40/s", "--simulator", installation.simulatorURL,
          "--api", installation.apiURL, "--run", "half",
        ], in: installation, output: "first")
      try installation.wait(for: "some pushes") {
        let pushes = try installation.client.send("GET", "\(installation.simulatorURL)/tally")
        return try (JSONValue(parsing: pushes.body)["newest_push"]?.whole ?? 0) > 20
      }
      playing.send(SIGINT)
      let code = playing.exitCode(within: .seconds(60))
      let first = printed("first")
      #expect(code == 0, "\(first)\(installation.logs())")
      let mark = "go on with: --run half --resume-from "
      let place = try #require(
        first.components(separatedBy: mark).last?.prefix { $0.isNumber }, "\(first)")
      let played = try #require(Int(place))
      #expect((1..<472).contains(played))
      let outcome = try replay(
        Self.evening, "--max", "--resume-from", "\(played)", in: installation, run: "half")
      #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)\(installation.logs())")
      let verdict = try report("half")["verdict"]
      #expect(verdict?["accepted"]?.whole == 472 - played)
      #expect(verdict?["lost"] == 0 && verdict?["doubled"] == 0)
      #expect(verdict?["out_of_order"] == 0)
    }

    @Test func `A phone that is not told fails the verdict`() throws {
      defer { try? FileManager.default.removeItem(at: directory) }
      let installation = try Installation(running: [.api, .payloadBuilder, .simulator])
      // Nobody sends: what waits is not drained, and every card is missing.
      let outcome = try Programs.run(
        Programs.lockstep,
        [
          "replay", Self.evening, "--rate", "400/s", "--seconds", "1", "--drain-seconds", "2",
          "--simulator", installation.simulatorURL, "--api", installation.apiURL, "--json",
        ], environment: installation.settings, within: .seconds(120))
      #expect(outcome.code == 2, "\(outcome.errors)")
      let report = try JSONValue(parsing: Data(outcome.output.utf8))
      #expect((report["verdict"]?["lost"]?.whole ?? 0) > 0)
      #expect(report["drained_after_seconds"] == nil)
    }

    @Test func `What is asked for in a wrong way is named`() throws {
      defer { try? FileManager.default.removeItem(at: directory) }
      let installation = try Installation()
      // There is none yet.
      installation.settings["LOCKSTEP_DATABASE_URL"] = nil
      let cases: [([String], Int32, String)] = [
        (["replay", "f"], 64, "replay wants one of --speed 10x, --rate 2000/s, --max"),
        (["replay", "--max"], 64, "replay wants one file"),
        (["replay", "f", "--rate", "fast"], 64, "--rate fast: want events a second"),
        (["replay", "f", "--max", "--resume-from", "3"], 64, "--resume-from wants --run"),
        (["replay", path("none"), "--max"], 66, "cannot be opened"),
        (["record"], 64, "record wants --to F.jsonl.gz"),
        (["generate", "--to", path("g"), "--people", "1"], 64, "--people 1: want a whole number"),
      ]
      for (arguments, code, text) in cases {
        let outcome = try Programs.run(
          Programs.lockstep, arguments, environment: installation.settings)
        #expect(outcome.code == code, "\(arguments): \(outcome.errors)")
        #expect(outcome.errors.contains(text), "\(arguments): \(outcome.errors)")
      }
    }

    @Test func `The load test starts everything, loses nothing, leaves its reports`() throws {
      defer { try? FileManager.default.removeItem(at: directory) }
      try FileManager.default.createDirectory(
        atPath: path("tmp"), withIntermediateDirectories: true)
      let output = directory.appending(path: "output")
      let child = try Child(
        Programs.repository.appending(path: "deploy/loadtest"), ["--short"],
        environment: [
          "TMPDIR": path("tmp"), "LOCKSTEP_LOADTEST_DIR": path("reports"),
          "LOCKSTEP_BIN": Programs.directory.path(percentEncoded: false),
        ], output: output, errors: output)
      let code = child.exitCode(within: .seconds(240))
      if code == nil { child.sendToGroup(SIGTERM) }
      #expect(code == 0, "\(printed("output"))")
      for run in ["short-max", "short-rate"] {
        let html = try String(contentsOfFile: path("reports/\(run)/report.html"), encoding: .utf8)
        #expect(html.contains("0 lost · 0 doubled · 0 out of order"))
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: path("tmp")) == [])
    }
  }
}
