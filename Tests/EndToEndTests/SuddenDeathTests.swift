import Foundation
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  @Suite struct SuddenDeathTests {
    @Test(arguments: Role.separate)
    func `A session ends right although a process is killed in the middle`(victim: Role) throws {
      let installation = try Installation(running: [.simulator] + Role.separate)
      for user in CookSession.people { try installation.phones.add(user) }
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try installation.phones.awaitTruth(cards: 2)
      // From here on nobody waits for the phones: the victim has its hands full.
      for (place, step) in CookSession.answering.enumerated() {
        if place == 1 { installation.kill(victim) }
        if place == 1, victim == .api { try installation.launch(.api) }
        try session.act(step.user, step.action, step.body)
      }
      try session.cook()
      if victim != .api { try installation.launch(victim) }
      try session.playToDecision()
      try installation.awaitReady(victim)
      try installation.phones.awaitTruth(cards: 2)
      // Shown and taken away again, or not shown any more because it was over by then.
      try installation.wait(for: "the invitation's banner to be gone") {
        try installation.phones.banners(of: "jaqueline").isEmpty
      }
      #expect(try installation.phones.cards(of: "jaqueline", in: session).map(\.rev) == [11])
    }

    @Test func `Each process is killed once while a session goes on, and it ends right`() throws {
      let installation = try Installation(running: [.simulator] + Role.separate)
      for user in CookSession.people { try installation.phones.add(user) }
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try session.playToProposals()
      for round in 0..<12 {
        let victim = Role.separate[round % Role.separate.count]
        let proposal = JSONValue.string("p\(round / 2 % 2 + 1)")
        try session.act(
          round % 2 == 0 ? "jaqueline" : "dennis", "pick", ["proposal_id": proposal])
        installation.kill(victim)
        try installation.launch(victim)
      }
      for role in Role.separate { try installation.awaitReady(role) }
      try session.playToDecision()
      try installation.phones.awaitTruth(cards: 2)
    }
  }
}
