import Foundation
import Testing
import Vocabulary

extension EndToEnd {
  /// Android phones beside iPhones, on the real stack.
  @Suite struct AndroidTests {
    private static let roles: [Role] = [
      .simulator, .api, .payloadBuilder, .apnsSender, .fcmSender, .notifier,
    ]

    private func installation() throws -> Installation {
      let installation = try Installation()
      try installation.offerFCM()
      try installation.useShortRungs()
      try installation.applyTopology()
      for role in Self.roles { try installation.start(role) }
      return installation
    }

    private func answers(of installation: Installation, to phone: String) throws -> [Int] {
      try installation.phones.pushes(to: phone).compactMap(\.status)
    }

    @Test func `an Android phone and an iPhone in one session both show the truth`() throws {
      let installation = try installation()
      let (phones, androids) = (installation.phones, installation.androids)
      for user in CookSession.people { try phones.add(user) }
      try androids.add("jaqueline", id: "pixel")
      try androids.add("dennis", id: "fairphone")
      let session = try CookSession.begin(in: installation)
      try phones.startLocally(session, on: "dennis")
      try phones.awaitTruth(cards: 4)
      // One is away and gets only the newest; one loses its process, and any message brings the
      // card back.
      try androids.make("pixel", "offline")
      try androids.make("fairphone", "forget")
      try session.playToProposals()
      try installation.wait(for: "FCM to keep the newest for the phone that is away") {
        try androids.seen("pixel")["held"] == 1
      }
      try androids.make("pixel", "online")
      // A phone that comes late gets the card as it is.
      try androids.add("jaqueline", id: "late")
      try phones.awaitTruth(cards: 5)
      // No access token counts any more: renewed, and nothing is lost.
      try androids.revokeAccessTokens()
      try session.playToDecision()
      try phones.awaitTruth(cards: 5)
      for phone in ["pixel", "fairphone", "late"] {
        let cards = try androids.cards(of: phone)
        #expect(cards.count == 1)
        #expect(cards.first?["standing"] == "ended")
        #expect(cards.first?["attributes"]?["sessionId"] == .string(session.id))
      }
      let all = try ["pixel", "fairphone", "late"].flatMap {
        try answers(of: installation, to: $0)
      }
      #expect(all.contains(401))
      #expect(Set(all) == [200, 401])
    }

    @Test func `a phone without the app is pruned, and a quota is waited out`() throws {
      let installation = try installation()
      let (phones, androids) = (installation.phones, installation.androids)
      for user in CookSession.people { try phones.add(user) }
      try androids.add("jaqueline", id: "pixel")
      try androids.add("dennis", id: "gone")
      try androids.make("gone", "uninstall")
      try phones.setFaults([
        [
          "match": ["push_type": "fcm", "phone": "pixel"], "action": "answer", "status": 429,
          "reason": "QUOTA_EXCEEDED", "retry_after_seconds": 2, "count": 1,
        ],
        [
          "match": ["push_type": "fcm", "phone": "pixel"], "action": "answer", "status": 503,
          "reason": "UNAVAILABLE", "retry_after_seconds": 1, "count": 1,
        ],
      ])
      let session = try CookSession.begin(in: installation)
      try phones.startLocally(session, on: "dennis")
      try installation.wait(for: "the card to come after the quota") {
        try androids.cards(of: "pixel").count == 1
      }
      #expect(try answers(of: installation, to: "pixel").prefix(3) == [429, 503, 200])
      #expect(try answers(of: installation, to: "gone") == [404])
      try session.act("jaqueline", "join")
      try phones.awaitTruth(cards: 3)
      #expect(try answers(of: installation, to: "gone") == [404])
    }
  }
}
