import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  /// Events that nobody can ever build from, in masses.
  @Suite struct PoisonTests {
    /// `LOCKSTEP_TEST_POISON` asks for another number.
    private static let count: Int = {
      Int(ProcessInfo.processInfo.environment["LOCKSTEP_TEST_POISON"] ?? "") ?? 6000
    }()
    private static let window = 500
    /// What the builder may grow by after its first tenth.
    private static let growthMax_KiB = 16 * 1024

    private static let session = #"""
      {"specversion":"1.0","id":"p","source":"/x","type":"cooksuggest.session.picked",
       "subject":"cs_p","time":"2030-01-31T12:00:00.000Z",
       "data":{"session":{"id":"cs_p","state":"proposed"}}}
      """#
    private static let exploded = #"""
      {"specversion":"1.0","id":"p","source":"/x","type":"cooksuggest.session.exploded",
       "subject":"cs_p","time":"2030-01-31T12:00:00.000Z","data":{}}
      """#
    /// Undecodable, of an unknown type, without what is required.
    private static let bodies = ["{\u{0}nothing", exploded, session]

    private let installation: Installation

    init() throws { installation = try Installation(running: [.simulator] + Role.separate) }

    @Test func `All poison is dead with its reason, and good events flow meanwhile`() throws {
      for user in CookSession.people { try installation.phones.add(user) }
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try session.playToProposals()
      try installation.phones.awaitTruth(cards: 2)

      let address = try BrokerAddress(url: installation.broker.url)
      let route = try Topology(file: Programs.queuesFile.path(percentEncoded: false))
        .routes[.build]
      let publisher = RabbitMQPublisher(
        address, name: "poisoner", time: SystemTime(), log: .discarding)
      try publisher.open()
      var memory_KiB: [Int] = []
      for first in stride(from: 0, to: Self.count, by: Self.window) {
        let numbers = first..<min(first + Self.window, Self.count)
        let outcomes = try publisher.publish(numbers.map { poison($0, route) })
        try #require(outcomes.allSatisfy { $0 == .confirmed })
        if first / Self.window % 4 == 0 {
          let proposal = "p\(first / Self.window / 4 % 2 + 1)"
          try session.act("jaqueline", "pick", ["proposal_id": .string(proposal)])
          // A good event waits for its turn, and for no more than that.
          try installation.phones.awaitTruth(cards: 2)
        }
        memory_KiB.append(try installation.residentMemory_KiB(of: .payloadBuilder))
      }
      publisher.close()
      try installation.phones.awaitTruth(cards: 2)
      try awaitDead()
      memory_KiB.append(try installation.residentMemory_KiB(of: .payloadBuilder))

      let early = memory_KiB.prefix(max(1, memory_KiB.count / 10)).max() ?? 0
      let most = memory_KiB.max() ?? 0
      print("poison: \(Self.count) events, builder \(early) KiB early, at most \(most) KiB")
      #expect(most - early < Self.growthMax_KiB, "\(memory_KiB)")
      try expectReasons()
    }

    private func poison(_ number: Int, _ route: StageRoute) -> OutgoingMessage {
      OutgoingMessage(
        exchange: route.exchange, routingKey: route.routingKey,
        message: Message(
          id: "poison-\(number)", type: "cooksuggest.session.picked",
          contentType: Event.contentType, body: Data(Self.bodies[number % 3].utf8)))
    }

    private func awaitDead() throws {
      try installation.wait(for: "all poison in dead.build", within: .seconds(120)) {
        let waiting = try installation.waitingMessages()
        return waiting["dead.build"] == Self.count && waiting["build"] == nil
      }
    }

    /// Each kind has its own reason; a walk reads at most so many.
    private func expectReasons() throws {
      installation.settings["LOCKSTEP_AMQP_MANAGEMENT_URL"] =
        ProcessInfo.processInfo.environment["LOCKSTEP_TEST_AMQP_MANAGEMENT_URL"]
      let listed = try Programs.run(
        Programs.lockstep, ["dead", "list", "--json", "--limit", "60000"],
        environment: installation.settings)
      try #require(listed.code == 0, "\(listed.errors)")
      let rows = try JSON.decode([[String: JSONValue]].self, from: Data(listed.output.utf8))
      let reasons = rows.compactMap { $0["reason"]?.text }
      #expect(reasons.count == 3, "\(reasons)")
      #expect(reasons.contains { $0.contains("exploded") }, "\(reasons)")
      let counted = rows.compactMap { $0["count"]?.whole }.reduce(0, +)
      #expect(counted == min(Self.count, 60_000))
    }
  }
}
