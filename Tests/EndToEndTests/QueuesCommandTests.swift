import Foundation
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  /// `lockstep queues`, as a person at a shell and a script meet it.
  @Suite struct QueuesCommandTests {
    private let installation: Installation

    init() throws {
      installation = try Installation()
      installation.settings["LOCKSTEP_AMQP_MANAGEMENT_URL"] =
        ProcessInfo.processInfo.environment["LOCKSTEP_TEST_AMQP_MANAGEMENT_URL"]
      try installation.applyTopology()
    }

    private func queues(_ words: String..., settings: [String: String] = [:]) throws
      -> Programs.Outcome
    {
      try Programs.run(
        Programs.lockstep, ["queues"] + words,
        environment: installation.settings.merging(settings) { _, new in new })
    }

    private func publish(to exchange: String, key: String) throws {
      try installation.broker.manage(
        "POST", "/api/exchanges/\(installation.broker.virtualHost)/\(exchange)/publish",
        #"{"routing_key":"\#(key)","payload":"{}","payload_encoding":"string","properties":{}}"#)
    }

    /// The same queues with no expectation of readers: none runs here.
    private func fileWithoutReaders() throws -> String {
      let text = try String(contentsOf: Programs.queuesFile, encoding: .utf8)
      let file = installation.directory.appending(path: "queues.yaml")
      try Data(text.replacing(" min-consumers: 1,", with: "").utf8).write(to: file)
      return file.path(percentEncoded: false)
    }

    @Test func `What is as expected has code 0, what is not has code 2 and one line says why`()
      throws
    {
      let calm = ["LOCKSTEP_QUEUES_FILE": try fileWithoutReaders()]
      let well = try queues(settings: calm)
      #expect(well.code == 0, "\(well.errors)")
      #expect(well.output.contains("all is as queues.yaml expects"))
      try publish(to: "dead", key: "apns")
      try publish(to: "events", key: "nobody.reads.this")
      let broken = try queues(settings: calm)
      #expect(broken.code == 2)
      #expect(
        broken.errors
          == "lockstep: apns: 1 dead letter. See lockstep dead list --stage apns (and 1 more)\n")
      #expect(broken.output.contains("unroutable: 1 event that no queue took."))
      let unread = try queues()
      #expect(unread.code == 2)
      #expect(
        unread.errors.hasPrefix(
          "lockstep: build: nobody reads it, at least 1 expected. Start payload-builder"))
    }

    @Test func `JSON is an array of flat objects`() throws {
      try publish(to: "dead", key: "apns")
      let rows = try JSON.decode(
        [[String: JSONValue]].self, from: Data(try queues("--json").output.utf8))
      #expect(
        rows.map { $0["queue"] }
          == ["build", "apns", "notify", "webpush", "fcm", "kitchen", "unroutable"])
      #expect(rows[1]["dead"] == 1)
      #expect(rows[1]["depth"] == 0)
      #expect(rows[1]["trouble"]?.text?.contains("Start apns-sender") == true)
      #expect(Set(rows.map { Set($0.keys) }).count == 1)
    }

    @Test func `What cannot be known is said, and no password is`() throws {
      installation.settings["LOCKSTEP_AMQP_MANAGEMENT_URL"] = nil
      let blind = try queues()
      #expect(blind.output.contains("LOCKSTEP_AMQP_MANAGEMENT_URL is not set"))
      let wrong = ["LOCKSTEP_AMQP_MANAGEMENT_URL": "http://guest:secret@127.0.0.1:1"]
      let half = try queues(settings: wrong)
      #expect(half.output.contains("rates, unacked and ages are not known"))
      let none = try queues(
        settings: wrong.merging(["LOCKSTEP_AMQP_URL": "amqp://guest:secret@127.0.0.1:1/x"]) { $1 })
      #expect(none.code == 69)
      for text in [half.output, half.errors, none.output, none.errors] {
        #expect(!text.contains("secret"))
      }
    }

    @Test func `Watching goes on until it is interrupted, and writes no colours into a file`()
      throws
    {
      let output = installation.directory.appending(path: "watched")
      let errors = installation.directory.appending(path: "watched-errors")
      let child = try Child(
        Programs.lockstep, ["queues", "--watch", "--json"], environment: installation.settings,
        output: output, errors: errors)
      try installation.wait(for: "two looks") {
        try String(contentsOf: output, encoding: .utf8).split(separator: "\n").count >= 2
      }
      child.send(SIGINT)
      #expect(child.exitCode(within: .seconds(10)) == 0)
      let text = try String(contentsOf: output, encoding: .utf8)
      #expect(!text.contains("\u{1B}"))
      for line in text.split(separator: "\n") {
        #expect(try JSON.decode([[String: JSONValue]].self, from: Data(line.utf8)).count == 7)
      }
    }
  }
}
