import Foundation
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  @Suite struct BrokerOutageTests {
    /// Seconds; `LOCKSTEP_TEST_OUTAGE_SECONDS` asks for another length.
    private static let outage: Int = {
      Int(ProcessInfo.processInfo.environment["LOCKSTEP_TEST_OUTAGE_SECONDS"] ?? "") ?? 10
    }()

    @Test func `Mutations succeed while the broker is dead, and all arrive after it is back`()
      throws
    {
      let node = try PrivateBroker()
      let installation = try Installation(
        running: [.simulator] + Role.separate,
        broker: BrokerUnderTest(url: node.url, managementURL: node.managementURL))
      for user in CookSession.people { try installation.phones.add(user) }
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try session.playToProposals()
      try installation.phones.awaitTruth(cards: 2)

      try installation.awaitKeptTopology()
      try node.kill()
      try installation.wait(for: "the api to say that it is degraded") {
        try installation.readiness(of: .api) == (200, "degraded")
      }
      #expect(try installation.readiness(of: .payloadBuilder).code == 503)
      var picks = 0
      for age in 1...Self.outage {
        try session.act("jaqueline", "pick", ["proposal_id": .string("p\(age % 2 + 1)")])
        picks += 1
        try installation.wait(for: "the oldest event to be \(age) s old") {
          try installation.metric("lockstep_outbox_oldest_seconds", of: .api) >= Double(age)
        }
      }
      try installation.wait(for: "all picks to be in the outbox") {
        try installation.metric("lockstep_outbox_events", of: .api) >= Double(picks)
      }
      let shown = try installation.phones.cards(of: "dennis", in: session).map(\.rev)
      #expect(try shown != [session.rev()])

      try node.start()
      try installation.phones.awaitTruth(cards: 2)
      try installation.wait(for: "the api to be well again") {
        try installation.readiness(of: .api) == (200, "ok")
      }
      #expect(try installation.metric("lockstep_outbox_events", of: .api) == 0)
      try session.playToDecision()
      try installation.phones.awaitTruth(cards: 2)
    }

    @Test func `Roles that start before their broker wait for it`() throws {
      let node = try PrivateBroker()
      let installation = try Installation(
        broker: BrokerUnderTest(url: node.url, managementURL: node.managementURL))
      try installation.applyTopology()
      try installation.awaitKeptTopology()
      try node.kill()
      // The simulator writes the authority that the sender is given.
      try installation.start(.simulator)
      for role in Role.separate { try installation.launch(role) }
      try installation.awaitReady(.api)
      for user in CookSession.people { try installation.phones.add(user) }
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try node.start()
      try installation.phones.awaitTruth(cards: 2)
    }
  }
}
