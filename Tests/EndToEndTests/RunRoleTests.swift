import Foundation
import TestSupport
import Testing

extension EndToEnd {
  @Suite struct RunRoleTests {
    @Test func `One process plays a whole session and ends in good order`() throws {
      let installation = try Installation(running: [.simulator, .run])
      for user in CookSession.people { try installation.phones.add(user) }
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try session.playToProposals()
      // A session that is over before a phone heard of it starts no card there.
      try installation.phones.awaitTruth(cards: 2)
      try session.playToDecision()
      try installation.phones.awaitTruth(cards: 2)
      #expect(try installation.end(.run) == 0)
    }

    @Test func `What is in hand when SIGTERM comes is not lost`() throws {
      let installation = try Installation(running: [.simulator, .run])
      for user in CookSession.people { try installation.phones.add(user) }
      var sessions: [CookSession] = []
      for _ in 0..<10 {
        let session = try CookSession.begin(in: installation)
        sessions.append(session)
        for step in CookSession.answering.dropLast() {
          try session.act(step.user, step.action, step.body)
        }
      }
      #expect(try installation.end(.run) == 0)
      #expect(try installation.log(of: .run).contains("drained"))
      try installation.start(.run)
      try installation.wait(for: "a card of every session") {
        try sessions.allSatisfy { session in
          try installation.phones.cards(of: "jaqueline", in: session).map(\.rev) == [5]
        }
      }
      try installation.phones.awaitTruth(cards: sessions.count)
      #expect(try installation.messages(in: "dead.build").isEmpty)
      #expect(try installation.messages(in: "dead.apns").isEmpty)
    }

    @Test(arguments: Role.separate)
    func `A role that idles ends within a moment`(role: Role) throws {
      let installation = try Installation(running: [.simulator, role])
      let begun = ContinuousClock.now
      #expect(try installation.end(role) == 0)
      #expect(ContinuousClock.now - begun < .seconds(10))
    }
  }
}
