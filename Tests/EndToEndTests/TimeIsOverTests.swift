import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  @Suite struct TimeIsOverTests {
    @Test func `A session ends at its deadline, everywhere and once, though the api is down`()
      throws
    {
      let installation = try Installation()
      installation.settings["LOCKSTEP_SESSION_TTL_SECONDS"] = "5"
      try installation.applyTopology()
      for role in [Role.simulator] + Role.separate { try installation.start(role) }
      for user in CookSession.people { try installation.phones.add(user) }
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try installation.wait(for: "the invitation on the phone") {
        try installation.phones.banners(of: "jaqueline").count == 1
          && installation.phones.cards(of: "jaqueline", in: session).count == 1
          && installation.metric("lockstep_outbox_events", of: .notifier) == 0
      }
      // Two of each phone, and one of its card: without that one nobody could end the card.
      try installation.wait(for: "every token to be registered") {
        try installation.storedTokens().count == 6
      }
      installation.kill(.api)

      try installation.wait(for: "the banner and the card to go") {
        try installation.phones.banners(of: "jaqueline").isEmpty
          && installation.phones.cards(of: "jaqueline", in: session).allSatisfy {
            $0.state == "cancelled"
          }
      }
      try installation.start(.api)
      let seen = try session.seen()
      #expect(seen["state"] == "cancelled")
      #expect(seen["end_reason"] == "ttl")
      #expect(seen["rev"] == 2)
      let inbox = try installation.ask("jaqueline", "GET", "/api/notifications")
      guard case .array(let records)? = inbox["notifications"] else { throw Unexpected("no inbox") }
      #expect(records.map { $0["resolved"] } == [1])
      #expect(records.map { $0["resolved_reason"] } == ["ttl"])
      #expect(try installation.metric("lockstep_expiry_lateness_seconds_count", of: .notifier) == 1)
      let silent = try installation.phones.allPushes().filter { $0["push_type"] == "background" }
      #expect(silent.map { $0["status"] } == [200])
      try installation.phones.awaitTruth(cards: 2)
    }
  }
}
