import Foundation
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  /// `lockstep dead`, and `topology plan`, as a person at a shell meets them.
  @Suite struct DeadLetterTests {
    private let installation: Installation
    private static let token = String(repeating: "ab", count: 40)

    init() throws {
      installation = try Installation()
      installation.settings["LOCKSTEP_AMQP_MANAGEMENT_URL"] =
        ProcessInfo.processInfo.environment["LOCKSTEP_TEST_AMQP_MANAGEMENT_URL"]
      try installation.applyTopology()
    }

    private func dead(_ words: String...) throws -> Programs.Outcome {
      try Programs.run(Programs.lockstep, ["dead"] + words, environment: installation.settings)
    }

    /// Puts a push job into the sender's dead queue, as the sender does.
    private func bury(_ id: String, _ error: String) throws {
      try installation.broker.manage(
        "POST", "/api/exchanges/\(installation.broker.virtualHost)/dead/publish",
        #"""
        {"routing_key": "apns", "payload": "{\"aps\":{}}", "payload_encoding": "string",
         "properties": {"message_id": "\#(id)", "type": "push.update", "delivery_mode": 2,
          "headers": {"x-token": "\#(Self.token)", "x-attempt": 7, "x-origin-queue": "apns",
           "x-last-error": "\#(error)", "x-first-failed-at": 1781787600000,
           "x-\u{E9}": 1, "x-e\u{301}": 2}}}
        """#)
    }

    private func rows(_ outcome: Programs.Outcome) throws -> [[String: JSONValue]] {
      try JSON.decode([[String: JSONValue]].self, from: Data(outcome.output.utf8))
    }

    @Test func `Dead letters are counted, shown, written, replayed and dropped`() throws {
      for number in 1...3 { try bury("job-\(number)", "503 busy, after \(number) attempts") }
      try bury("odd", #"no such type\u001b[2J\u0007"#)
      let listed = try rows(try dead("list", "--json"))
      #expect(listed.map { $0["count"] } == [3, 1])
      #expect(listed.map { $0["reason"] } == ["503 busy, after N attempts", "no such type [… "])
      #expect(listed[0]["first_failed_at"] == "2026-06-18T13:00:00.000Z")
      let file = installation.directory.appending(path: "dead.jsonl").path(percentEncoded: false)
      let said = [
        try dead("list"), try dead("show", "odd"), try dead("show", "--all", "--json"),
        try dead("replay", "--all", "--dry-run"), try dead("replay", "--all", "--to-file", file),
      ]
      let written = try String(contentsOfFile: file, encoding: .utf8)
      #expect(written.split(separator: "\n").count == 4)
      #expect(said.allSatisfy { $0.code == 0 })
      for text in said.map(\.output) + said.map(\.errors) + [written] {
        #expect(!text.contains(Self.token), "a whole push token is never shown")
      }
      #expect(said[1].output.contains(#"no such type\u{1B}[2J\u{7}"#), "\(said[1].output)")
      #expect(said.allSatisfy { !$0.output.contains("\u{1B}") }, "nothing that a terminal obeys")
      #expect(try dead("replay", "--all", "--to-file", file).code == 69, "never over a file")
      let other = file + ".other"
      #expect(try dead("replay", "job-9", "--to-file", other).code == 66)
      #expect(!FileManager.default.fileExists(atPath: other), "no empty file is left")
      #expect(try rows(try dead("list", "--json")) == listed, "all of that changed nothing")
      let one = try dead("replay", "job-2", "--json")
      #expect(try rows(one).first?["to"] == "apns")
      #expect(try dead("replay", "--reason", "503 busy, after N attempts").code == 0)
      #expect(try dead("drop", "odd", "--dry-run").code == 0)
      #expect(try dead("drop", "odd").code == 0)
      #expect(try dead("list").output == "no dead letters\n")
    }

    @Test(arguments: [
      (["list", "more"], 64), (["replay"], 64), (["drop"], 64), (["show"], 64), ([], 64),
      (["replay", "x", "--all"], 64), (["list", "--dry-run"], 64),
      (["drop", "--to-file", "x"], 64),
      (["list", "--limit", "0"], 64), (["list", "--limit", "65536"], 64),
      (["list", "--stage", "sms"], 64), (["show", "x"], 66), (["replay", "x"], 66),
      (["drop", "--all"], 66), (["list", "--limit", "65535"], 0),
    ])
    func `A wrong word, and what is not there, have codes of their own`(
      words: [String], code: Int
    ) throws {
      let outcome = try Programs.run(
        Programs.lockstep, ["dead"] + words, environment: installation.settings)
      #expect(Int(outcome.code) == code, "\(outcome.errors)")
    }

    @Test func `A plan names what drifted, with a recipe and code 2`() throws {
      let plan = { [settings = installation.settings] (more: [String: String]) in
        try Programs.lockstep(
          "topology", "plan", environment: settings.merging(more) { _, new in new })
      }
      #expect(try plan([:]).code == 0)
      let changed = installation.directory.appending(path: "queues.yaml")
      let text = try String(contentsOf: Programs.queuesFile, encoding: .utf8)
      try Data(text.replacing("delivery-limit: 50", with: "delivery-limit: 51").utf8)
        .write(to: changed)
      let drifted = try plan(["LOCKSTEP_QUEUES_FILE": changed.path(percentEncoded: false)])
      #expect(drifted.code == 2)
      #expect(drifted.output.contains("queue build: x-delivery-limit is 50, queues.yaml says 51"))
      #expect(drifted.output.contains("lockstep topology move build build.moving"))
      #expect(!drifted.output.contains("guest"), "no password in a recipe")
      let exported = try Programs.lockstep(
        "topology", "export", environment: installation.settings)
      #expect(exported.code == 0)
      #expect(exported.output.contains(#""name" : "dead.kitchen""#))
    }
  }
}
