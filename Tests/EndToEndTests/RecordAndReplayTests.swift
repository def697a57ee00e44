import Foundation
import Glibc
import HTTPClient
import Pipeline
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

    private func phones(of installation: Installation) throws -> Int {
      let tally = try installation.client.send("GET", "\(installation.simulatorURL)/tally")
      return try #require(JSONValue(parsing: tally.body)["phones"]?.whole)
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

    @Test func `Activities of two other apps are recorded, played and judged`() throws {
      defer { try? FileManager.default.removeItem(at: directory) }
      let installation = try Installation()
      installation.settings[Installation.contractsSetting] =
        Installation.contractsFolder.path(percentEncoded: false)
      try installation.applyTopology()
      for role in [.simulator] + Role.separate { try installation.start(role) }
      try installation.phones.add("sina", app: "ShinyActivityAttributes")
      try installation.phones.add("mia", app: "ShoppingActivityAttributes")
      let recorder = try start(
        ["record", "--to", path("r.jsonl.gz")], in: installation, output: "record")
      try installation.wait(for: "the recorder to listen") {
        printed("record").contains(" info recording ")
      }
      func order(_ title: String) -> JSONValue {
        ["title": .string(title), "data": ["courier": "Mara"]]
      }
      try installation.serve(
        "PUT", "order-1",
        [
          "attributes_type": "ShinyActivityAttributes", "attributes": ["values": [:]],
          "recipients": [["user_id": "sina"]], "content_state": order("Confirmed"),
          "alert": ["title": "Roma", "body": "is at it"],
        ])
      func list(_ done: Int) -> JSONValue {
        [
          "headline": "Wochenmarkt", "done": .integer(Int64(done)), "total": 2,
          "rev": .integer(Int64(done + 1)), "changedAt": .string(SystemTime().now().rfc3339),
        ]
      }
      try installation.serve(
        "PUT", "list-1",
        [
          "attributes_type": "ShoppingActivityAttributes",
          "attributes": ["listKey": "list-1", "listName": "Samstag"],
          "recipients": [["user_id": "mia"]], "content_state": list(0),
        ])
      try installation.phones.awaitTruth(cards: 2)
      for done in 1...2 {
        try installation.serve("PATCH", "list-1", ["content_state": list(done)])
        try installation.serve("PATCH", "order-1", ["content_state": order("Step \(done)")])
      }
      try installation.serve("DELETE", "list-1")
      // Seven of the activities, and one of each token that was bound to a card.
      try installation.wait(for: "the events to be heard") {
        let file = (try? Data(contentsOf: URL(filePath: path("r.jsonl.gz")))) ?? Data()
        let text = try Programs.run(
          URL(filePath: "/bin/sh"), ["-c", "gzip -dc \(path("r.jsonl.gz")) 2>/dev/null; true"])
        return !file.isEmpty && text.output.contains("activity.ended")
      }
      recorder.send(SIGINT)
      #expect(recorder.exitCode(within: .seconds(20)) == 0, "\(printed("record"))")
      #expect(printed("record").contains(" 0 missed, 0 left out"))
      let text = try Programs.run(
        URL(filePath: "/bin/sh"), ["-c", "gzip -dc \(path("r.jsonl.gz"))"]
      ).output
      for word in ["sina", "mia", "order-1", "list-1", "Mara", "Roma", "Wochenmarkt", "Samstag"] {
        #expect(!text.contains(word), "\(word) stands in the recording")
      }
      let outcome = try replay(path("r.jsonl.gz"), "--rate", "2/s", in: installation, run: "apps")
      #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)\(installation.logs())")
      let verdict = try report("apps")["verdict"]
      #expect(verdict?["accepted"] == 7 && verdict?["activities"] == 2)
      #expect(verdict?["entries"] == 7 && verdict?["sessions"] == 0)
      #expect(verdict?["lost"] == 0 && verdict?["doubled"] == 0)
      #expect(verdict?["out_of_order"] == 0 && verdict?["complaints"] == 0)
      // Both cards show what they should; however slow this machine is, those are pushes.
      #expect((verdict?["delivered"]?.whole ?? 0) >= 2)
      // Where nobody declared the list's contract, it is not played and says so.
      installation.settings[Installation.contractsSetting] = nil
      let part = try replay(path("r.jsonl.gz"), "--rate", "4/s", in: installation, run: "part")
      #expect(part.code == 0, "\(part.output)\(part.errors)")
      #expect(part.errors.contains("not played: 4 events of ShoppingActivityAttributes"))
      #expect(try report("part")["verdict"]?["accepted"] == 3)
      #expect(try phones(of: installation) == 2, "a run took its phones with it")
      // A simulator that has not heard of the list's app cannot give anybody a phone with it.
      let bare = try Installation(running: [.api, .simulator])
      bare.settings[Installation.contractsSetting] =
        Installation.contractsFolder.path(percentEncoded: false)
      let refused = try replay(path("r.jsonl.gz"), "--max", in: bare, run: "bare")
      #expect(refused.code == 69, "\(refused.output)\(refused.errors)")
      #expect(refused.errors.contains("1 of 2 phones could not be made, so nothing was played"))
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
      #expect(try phones(of: installation) > 0, "those of a run that may go on stay")
      let outcome = try replay(
        Self.evening, "--max", "--resume-from", "\(played)", in: installation, run: "half")
      #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)\(installation.logs())")
      let verdict = try report("half")["verdict"]
      #expect(verdict?["accepted"]?.whole == 472 - played)
      #expect(try phones(of: installation) == 0)
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
        (
          ["generate", "--to", path("g"), "--begin", "9999-12-31T23:00:00Z"], 64,
          "--begin 9999-12-31T23:00:00Z: want a moment"
        ),
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
        let verdict = try JSONValue(
          parsing: Data(contentsOf: URL(filePath: path("reports/\(run)/report.json"))))["verdict"]
        #expect((verdict?["activities"]?.whole ?? 0) > 0, "\(run)")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: path("tmp")) == [])
    }
  }
}
