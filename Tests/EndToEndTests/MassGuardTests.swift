import Foundation
import Testing
import Vocabulary

extension EndToEnd {
  /// One bad deployment: APNs refuses every token of one topic, as it does when the topic or the
  /// environment is wrong and not the tokens.
  @Suite struct MassGuardTests {
    /// Above the twenty that the guard waits for.
    private static let phones = 24

    @Test(arguments: ["BadDeviceToken", "DeviceTokenNotForTopic"])
    func `B-10 E-4 A topic that refuses all tokens prunes none, raises one alarm, and recovers`(
      reason: String
    ) throws {
      let installation = try Installation(running: [.simulator] + Role.separate)
      try installation.phones.add("dennis")
      for number in 1...Self.phones {
        try installation.phones.add("jaqueline", id: "jaqueline-\(number)")
      }
      let first = try CookSession.begin(in: installation)
      try installation.phones.startLocally(first, on: "dennis")
      try installation.phones.awaitTruth(cards: 1 + Self.phones)

      try installation.phones.setFaults([
        [
          "action": "answer", "status": 400, "reason": .string(reason),
          "match": ["push_type": "liveactivity"],
        ]
      ])
      try first.act("jaqueline", "join")
      try installation.wait(for: "the guard to trip") {
        try installation.metric("lockstep_guard_trips_total", of: .apnsSender) >= 1
      }
      // The other topic goes on: an invitation is an alert.
      let second = try CookSession.begin(in: installation)
      try installation.wait(for: "every phone to hear of the second session") {
        try (1...Self.phones).allSatisfy { number in
          try installation.phones.banners(of: "jaqueline-\(number)").contains {
            $0["link"]?.text?.hasSuffix(second.id) == true
          }
        }
      }
      try first.act("dennis", "ready", ["ready": true])
      let refused = try installation.phones.allPushes().filter { $0["status"]?.whole == 400 }
      #expect(refused.count >= 20)
      #expect(refused.allSatisfy { $0["push_type"] == "liveactivity" })

      try installation.phones.setFaults([])
      try installation.phones.startLocally(second, on: "dennis")
      try installation.phones.awaitTruth(
        cards: 2 * (1 + Self.phones), within: .seconds(180))
      try expectOneAlarmAndNothingPruned(installation)
      #expect(try installation.messages(in: "dead.apns").isEmpty)
    }

    private func expectOneAlarmAndNothingPruned(_ installation: Installation) throws {
      let alarms = try installation.log(of: .apnsSender).split(separator: "\n").filter {
        $0.contains("lane open: nothing is sent but a probe")
      }
      #expect(alarms.count == 1, "\(alarms)")
      #expect(try installation.metric("lockstep_guard_trips_total", of: .apnsSender) == 1)
      let listed = try Programs.lockstep(
        "tokens", "list", "--pruned", "--json", environment: installation.settings)
      #expect(listed.code == 0, "\(listed.errors)")
      #expect(try JSONValue(parsing: Data(listed.output.utf8)) == [])
    }
  }
}
