import Foundation
import TestSupport
import Testing

extension EndToEnd {
  @Suite struct TopologyTests {
    @Test func `Applying the topology twice changes nothing`() throws {
      let installation = try Installation()
      let first = try installation.applyTopology()
      let second = try installation.applyTopology()
      #expect(first.output == second.output)
      #expect(first.output.contains("queues"))
    }

    @Test(arguments: [Role.payloadBuilder, .apnsSender, .notifier, .run])
    func `A worker without its topology says what to do`(role: Role) throws {
      let installation = try Installation()
      // It makes the authority's file.
      try installation.start(.simulator)
      try installation.launch(role)
      #expect(try installation.awaitEnd(of: role) == 78)
      let log = try installation.log(of: role)
      #expect(log.contains("lockstep topology apply"))
    }

    @Test func `An argument that was changed in queues.yaml is named, and nothing is changed`()
      throws
    {
      let installation = try Installation()
      try installation.applyTopology()
      let text = try String(contentsOf: Programs.queuesFile, encoding: .utf8)
      let changed = installation.directory.appending(path: "queues.yaml")
      try Data(text.replacing("delivery-limit: 50", with: "delivery-limit: 51").utf8)
        .write(to: changed)
      #expect(try Data(contentsOf: changed) != Data(text.utf8))
      installation.settings["LOCKSTEP_QUEUES_FILE"] = changed.path(percentEncoded: false)
      let outcome = try Programs.lockstep("topology", "apply", environment: installation.settings)
      #expect(outcome.code == 78)
      #expect(
        outcome.errors.contains("queue build: x-delivery-limit is 50, queues.yaml says 51"),
        "\(outcome.errors)")
      installation.settings["LOCKSTEP_QUEUES_FILE"] = Programs.queuesFile.path(
        percentEncoded: false)
      try installation.applyTopology()
    }

    @Test func `A mistake in queues.yaml is named with its line and column`() throws {
      let installation = try Installation()
      let file = installation.directory.appending(path: "queues.yaml")
      let text = try String(contentsOf: Programs.queuesFile, encoding: .utf8)
      try Data(text.replacing("    prefetch: 100", with: "    prefetsch: 100").utf8).write(to: file)
      installation.settings["LOCKSTEP_QUEUES_FILE"] = file.path(percentEncoded: false)
      let outcome = try Programs.lockstep("topology", "apply", environment: installation.settings)
      #expect(outcome.code == 78)
      let line = text.split(separator: "\n", omittingEmptySubsequences: false)
        .firstIndex { $0.hasPrefix("    prefetch: 100") }
      #expect(outcome.errors.contains("prefetsch"))
      #expect(outcome.errors.contains("\((line ?? 0) + 1):5"), "\(outcome.errors)")
    }

    @Test func `A broker that is away is no mistake of the settings`() throws {
      let installation = try Installation()
      installation.settings["LOCKSTEP_AMQP_URL"] = "amqp://guest:guest@127.0.0.1:1/x"
      let outcome = try Programs.lockstep("topology", "apply", environment: installation.settings)
      #expect(outcome.code == 69)
      #expect(!outcome.errors.contains("guest"))
    }
  }
}
