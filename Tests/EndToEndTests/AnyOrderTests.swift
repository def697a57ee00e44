import Foundation
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  @Suite struct AnyOrderTests {
    @Test(arguments: [UInt64(1), 2, 3])
    func `Events in any order, each twice, leave the newest rev, one start and no step back`(
      seed: UInt64
    ) throws {
      // Recorded from real sessions while nobody builds, so that no phone has heard of them yet.
      let installation = try Installation(running: [.simulator, .api, .apnsSender])
      for user in CookSession.people { try installation.phones.add(user) }
      try installation.phones.add("jaqueline", id: "jaquelines-tablet")
      try installation.record()
      let open = try CookSession.begin(in: installation)
      try installation.phones.startLocally(open, on: "dennis")
      try open.playToProposals()
      try open.act("jaqueline", "pick", ["proposal_id": "p1"])
      let decided = try CookSession.begin(in: installation)
      try installation.phones.startLocally(decided, on: "dennis")
      try decided.playToProposals()
      try decided.playToDecision()
      let revs = try [open.rev(), decided.rev()]
      // One for each rev, and one for each of Dennis's two cards' tokens.
      var events = try installation.recorded(atLeast: revs.reduce(2, +))
      try installation.purge("build")
      events += events
      var random = SeededRandom(seed: seed)
      events.shuffle(using: &random)

      try installation.start(.payloadBuilder)
      try installation.publishAsForeigner(events)

      try installation.wait(for: "all cards (seed \(seed))") {
        let tablet = try installation.phones.cards(of: "jaquelines-tablet", in: open)
        return try tablet.map(\.rev) == [revs[0]]
          && installation.phones.cards(of: "jaqueline", in: open).map(\.rev) == [revs[0]]
          && installation.phones.cards(of: "dennis", in: open).map(\.rev) == [revs[0]]
          && installation.phones.cards(of: "dennis", in: decided).map(\.rev) == [revs[1]]
      }
      let settled = "lockstep_stage_messages_total"
      try installation.wait(for: "every copy to be settled (seed \(seed))") {
        let lines = try installation.metrics(of: .payloadBuilder).split(separator: "\n")
          .filter { $0.hasPrefix(settled) }
        // The tokens of the cards that pushes start are registered on the way.
        return lines.compactMap { Int($0.split(separator: " ").last ?? "") }.reduce(0, +)
          >= events.count
      }
      try awaitVerdict(installation, seed)
      for phone in ["jaqueline", "jaquelines-tablet"] {
        let starts = try installation.phones.pushes(to: phone).filter { $0.event == "start" }
        #expect(starts.allSatisfy { $0.status == 200 }, "seed \(seed)")
        #expect(try installation.phones.cards(of: phone, in: open).count == 1, "seed \(seed)")
        #expect(try installation.phones.cards(of: phone, in: decided).count <= 1, "seed \(seed)")
      }
      #expect(try installation.messages(in: "dead.build").isEmpty)
    }

    private func awaitVerdict(_ installation: Installation, _ seed: UInt64) throws {
      try installation.wait(for: "a verdict of ok (seed \(seed))") {
        let verdict = try installation.phones.verdict()
        guard verdict["ok"] == true else { throw Unexpected("\(verdict)") }
        #expect(verdict["older_shown"] == 0, "seed \(seed)")
        #expect(verdict["doubled_starts"] == 0, "seed \(seed)")
        return true
      }
    }
  }
}
