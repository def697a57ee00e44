import Foundation
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  @Suite struct LatePhoneTests {
    /// Without the notifier: its alert would take the one place that APNs keeps for a phone that is
    /// offline.
    private static let roles: [Role] = [.simulator, .api, .payloadBuilder, .apnsSender]

    /// Jaqueline's phone is offline, and APNs keeps the start for it.
    private func invitedOffline(_ installation: Installation) throws -> CookSession {
      for user in CookSession.people { try installation.phones.add(user) }
      try installation.phones.make("jaqueline", "offline")
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try installation.wait(for: "the start to be accepted") {
        try installation.phones.pushes(to: "jaqueline").contains {
          $0.event == "start" && $0.status == 200
        }
      }
      return session
    }

    @Test func `An update token that registers late gets the newest state`() throws {
      let installation = try Installation(running: Self.roles)
      let session = try invitedOffline(installation)
      for step in CookSession.answering.prefix(4) {
        try session.act(step.user, step.action, step.body)
      }
      try installation.phones.awaitTruth(cards: 1)
      try installation.phones.make("jaqueline", "online")
      try installation.phones.awaitTruth(cards: 2)
      let pushes = try installation.phones.pushes(to: "jaqueline")
      #expect(pushes.map(\.event) == ["start", "update"])
      #expect(pushes.map(\.rev) == [1, 5])
    }

    @Test func `An update token that registers after the end gets the end`() throws {
      let installation = try Installation(running: Self.roles)
      let session = try invitedOffline(installation)
      try session.act("dennis", "cancel")
      try installation.phones.awaitTruth(cards: 1)
      try installation.phones.make("jaqueline", "online")
      try installation.phones.awaitTruth(cards: 2)
      let pushes = try installation.phones.pushes(to: "jaqueline")
      #expect(pushes.map(\.event) == ["start", "end"])
      let card = try #require(try installation.phones.cards(of: "jaqueline", in: session).first)
      // A cancelled session's card goes at once.
      #expect(card.standing == "removed")
      #expect(card.state == "cancelled")
    }

    @Test func `A phone that joins late gets the start that waited for it`() throws {
      let installation = try Installation(running: Self.roles)
      try installation.phones.add("dennis")
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try session.act("dennis", "ready", ["ready": true])
      try installation.phones.awaitTruth(cards: 1)
      try installation.phones.add("jaqueline")
      try installation.phones.awaitTruth(cards: 2)
      let starts = try installation.phones.pushes(to: "jaqueline").filter { $0.event == "start" }
      #expect(starts.map(\.rev) == [2])
    }

    @Test func `A card that was swiped away is not started again`() throws {
      let installation = try Installation(running: Self.roles)
      for user in CookSession.people { try installation.phones.add(user) }
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try installation.phones.awaitTruth(cards: 2)
      try installation.phones.make("jaqueline", "dismiss")
      // The phone has told the API once nothing waits any more.
      try installation.wait(for: "the report to be heard") {
        try installation.phones.verdict()["calls_waiting"] == 0
      }
      try session.playToProposals()
      try session.playToDecision()
      try installation.phones.awaitTruth(cards: 1)
      let starts = try installation.phones.pushes(to: "jaqueline").filter { $0.event == "start" }
      #expect(starts.count == 1)
      let cards = try installation.phones.cards(of: "jaqueline", in: session)
      #expect(cards.map(\.standing) == ["dismissed"])
    }

    @Test func `A phone that was offline during updates catches up`() throws {
      let installation = try Installation(running: Self.roles)
      for user in CookSession.people { try installation.phones.add(user) }
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try installation.phones.awaitTruth(cards: 2)
      try installation.phones.make("jaqueline", "offline")
      try session.playToProposals()
      try session.act("dennis", "pick", ["proposal_id": "p1"])
      let rev = try session.rev()
      try installation.wait(for: "the newest push to be accepted") {
        try installation.phones.pushes(to: "jaqueline").contains {
          $0.rev == rev && $0.status == 200
        }
      }
      #expect(try installation.phones.cards(of: "jaqueline", in: session).map(\.rev) == [1])
      try installation.phones.make("jaqueline", "online")
      try installation.phones.awaitTruth(cards: 2)
    }
  }
}
