import Foundation
import Pipeline
import Testing
import Vocabulary

extension EndToEnd {
  /// A Shiny app cannot say which card an update token is of.
  @Suite struct ShinyTokenTests {
    private static let orders = ["order-1", "order-2"]

    private static func order(_ key: String) -> JSONValue {
      [
        "attributes_type": "ShinyActivityAttributes",
        "attributes": ["kind": "delivery", "values": ["order": .string(key)]],
        "recipients": [["user_id": "sina"]], "content_state": state(0),
        "alert": ["title": .string(key), "body": "is confirmed"],
      ]
    }

    private static func state(_ step: Int) -> JSONValue {
      ["title": "On its way", "data": ["step": .string("\(step)")]]
    }

    /// Both cards are on the phone before its app can tell the API of a token.
    private func installationWithTwoUnbound() throws -> Installation {
      let installation = try Installation(running: [.simulator, .api, .payloadBuilder, .notifier])
      try installation.phones.add("sina", app: "ShinyActivityAttributes")
      for key in Self.orders { try installation.serve("PUT", key, Self.order(key)) }
      try installation.wait(for: "both starts to wait for the sender") {
        try installation.waitingMessages()["apns"] == 2
      }
      // Nothing of the API goes with it: the events are with the broker.
      installation.kill(.api)
      try installation.start(.apnsSender)
      try installation.wait(for: "both cards") {
        try installation.phones.cards(of: "sina").count == 2
      }
      try installation.start(.api)
      try installation.phones.awaitHeard()
      return installation
    }

    private func tokens(_ installation: Installation, _ words: String...) throws -> String {
      let outcome = try Programs.run(
        Programs.lockstep, ["tokens"] + words, environment: installation.settings)
      try #require(outcome.code == 0, "\(outcome.errors)")
      return outcome.output
    }

    private func unbound(_ installation: Installation) throws -> [JSONValue] {
      let listed = try tokens(installation, "list", "--unbound", "--json")
      return try JSONValue(parsing: Data(listed.utf8)).elements
    }

    /// What each card shows, by its order.
    private func shown(_ installation: Installation) throws -> [String: String] {
      let cards = try installation.phones.cards(of: "sina").map { card in
        (
          card.json["attributes"]?["values"]?["order"]?.text ?? "",
          card.json["content_state"]?["data"]?["step"]?.text ?? ""
        )
      }
      return Dictionary(cards) { first, _ in first }
    }

    /// Which order's card has a token, as the owner of the phone would say.
    private func order(of token: JSONValue, _ installation: Installation) throws -> String {
      let listed = try installation.ask("sina", "GET", "/api/apns/unbound")["tokens"]?.elements
      let meant = listed?.first { $0["token_fingerprint"] == token["fingerprint"] }
      let id = try #require(meant?["activity_id"])
      let card = try installation.phones.cards(of: "sina").first { $0.json["activity_id"] == id }
      return try #require(card?.json["attributes"]?["values"]?["order"]?.text)
    }

    @Test func `two cards whose tokens nobody can tell apart move once each token is bound`() throws
    {
      let installation = try installationWithTwoUnbound()
      let listed = try unbound(installation)
      #expect(listed.count == 2)
      #expect(listed.allSatisfy { $0["kind"] == "la-update" && $0["context_key"] == .null })
      #expect(Set(listed.map { $0["device_id"] }).count == 1)
      for key in Self.orders {
        try installation.serve("PATCH", key, ["content_state": Self.state(1)])
      }
      for token in listed {
        let key = try order(of: token, installation)
        #expect(try shown(installation)[key] == "0")
        let fingerprint = try #require(token["fingerprint"]?.text)
        let context = "activity:\(key):sina"
        let said = try tokens(
          installation, "bind", "--token", fingerprint, "--context", context)
        #expect(said == "1 bound\n")
        try installation.wait(for: "the card of \(key) to move") {
          try shown(installation)[key] == "1"
        }
      }
      #expect(try unbound(installation).isEmpty)
      try installation.phones.awaitTruth(cards: 2)
      // A token that is bound goes on as any other.
      for key in Self.orders {
        try installation.serve("PATCH", key, ["content_state": Self.state(2)])
      }
      try installation.phones.awaitTruth(cards: 2)
    }

    @Test func `what cannot be bound is said, and binds nothing`() throws {
      let installation = try installationWithTwoUnbound()
      let fingerprint = try #require(try unbound(installation).first?["fingerprint"]?.text)
      for (words, code) in [
        (["--token", fingerprint, "--context", "activity:order-3:sina"], Int32(66)),
        (["--token", fingerprint, "--context", "activity:order-1:sam"], 66),
        (["--token", "00000000", "--context", "activity:order-1:sina"], 66),
        (["--token", fingerprint], 64), (["--context", "activity:order-1:sina"], 64),
      ] {
        let outcome = try Programs.run(
          Programs.lockstep, ["tokens", "bind"] + words, environment: installation.settings)
        #expect(outcome.code == code, "\(words): \(outcome.errors)")
      }
      #expect(try unbound(installation).count == 2)
    }

    /// Starts are counted by token, so that another push-to-start token could begin all cards anew.
    @Test func `another push-to-start token starts no card again that nobody could bind`() throws {
      let installation = try installationWithTwoUnbound()
      try installation.phones.make("sina", "rotate")
      try installation.phones.awaitHeard()
      #expect(try unbound(installation).count == 2)
      for key in Self.orders {
        try installation.serve("PATCH", key, ["content_state": Self.state(1)])
      }
      try installation.wait(for: "all to be settled") {
        try installation.serve("GET", "order-2")["rev"] == 2
          && installation.metric(Self.supersededStarts, of: .apnsSender) >= 4
      }
      #expect(try installation.phones.cards(of: "sina").count == 2)
      #expect(try installation.phones.verdict()["doubled_starts"] == 0)
    }

    /// Two asked for by the token, two by the new states.
    private static let supersededStarts =
      #"lockstep_stage_messages_total{outcome="superseded",stage="apns"}"#
  }
}
