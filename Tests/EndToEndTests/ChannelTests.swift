import Foundation
import HTTPClient
import Pipeline
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  /// Several phones on one broadcast channel, on the real stack.
  @Suite struct ChannelTests {
    private static let roles: [Role] = [.simulator, .api, .payloadBuilder, .apnsSender, .notifier]
    private static let fans = ["mia", "sina", "sam"]

    private func installation(
      kept: Int = 28_800, app: String = "ShoppingActivityAttributes"
    ) throws -> Installation {
      let installation = try Installation()
      installation.settings[Installation.contractsSetting] =
        Installation.contractsFolder.path(percentEncoded: false)
      for service in ["PRODUCTION", "SANDBOX"] {
        installation.settings["LOCKSTEP_APNS_CHANNELS_URL_\(service)"] =
          installation.settings["LOCKSTEP_APNS_URL_\(service)"]
      }
      installation.settings["LOCKSTEP_APNS_CHANNELS_KEPT_SECONDS"] = "\(kept)"
      try installation.applyTopology()
      for role in Self.roles { try installation.start(role) }
      for fan in Self.fans {
        try installation.phones.add(fan, app: app)
      }
      return installation
    }

    private static func state(_ done: Int) -> JSONValue {
      [
        "headline": "Wochenmarkt", "done": .integer(Int64(done)), "total": 9,
        "rev": .integer(Int64(done + 1)), "next": [],
        "changedAt": .string(SystemTime().now().rfc3339),
      ]
    }

    private static func start(_ key: String, channel: JSONValue) -> JSONValue {
      [
        "attributes_type": "ShoppingActivityAttributes",
        "attributes": ["listKey": .string(key), "listName": "Samstag"],
        "recipients": .array(fans.map { ["user_id": .string($0)] }), "content_state": state(0),
        "channel": channel,
      ]
    }

    private func broadcasts(_ installation: Installation) throws -> [JSONValue] {
      try installation.phones.allPushes().filter { $0["channel"]?.text != nil }
    }

    private func channels(_ installation: Installation, _ words: String...) throws -> String {
      let outcome = try Programs.run(
        Programs.lockstep, ["channels"] + words, environment: installation.settings)
      try #require(outcome.code == 0, "\(outcome.errors)")
      return outcome.output
    }

    @Test func `each update of three phones is one broadcast, and all show the truth`() throws {
      let installation = try installation(kept: 0)
      let phones = installation.phones
      let wish = Self.start("list-1", channel: "create")
      let first = try installation.serve("PUT", "list-1", wish)
      try phones.awaitTruth(cards: 3)
      // Said again it is the same.
      let again = try installation.serve("PUT", "list-1", wish)
      #expect(again["rev"] == first["rev"])
      let id = try #require(again["channel"]?["id"]?.text)
      #expect(try channels(installation, "list").contains(id))
      #expect(try channels(installation, "read", id).contains("newest"))
      let before = try broadcasts(installation).count
      for done in 1...4 {
        let answer = try installation.serve("PATCH", "list-1", ["content_state": Self.state(done)])
        let rev = try #require(answer["rev"]?.whole)
        if done == 2 { try phones.make("sam", "offline") }
        try installation.wait(for: "the broadcast") {
          try broadcasts(installation).contains { $0["rev"]?.whole == rev && $0["status"] == 200 }
        }
      }
      try phones.make("sam", "online")
      try phones.awaitTruth(cards: 3)
      let sent = try broadcasts(installation)
      // One for each state, none to a token.
      #expect(sent.count - before == 4)
      #expect(Set(sent.map { $0["channel"]?.text }) == [id])
      #expect(sent.allSatisfy { $0["phone"]?.text == nil && $0["status"] == 200 })
      #expect(try phones.allPushes().count { $0["event"] == "start" } == 3)
      #expect(
        try phones.allPushes().count { $0["event"] == "update" && $0["channel"]?.text == nil } == 0)
      try installation.serve("DELETE", "list-1", ["content_state": Self.state(9)])
      try phones.awaitTruth(cards: 3)
      #expect(try phones.cards(of: "sam").map(\.standing) == ["ended"])
      try installation.wait(for: "the channel to go") {
        try !channels(installation, "list").contains(id)
      }
    }

    private static func score(_ text: String) -> JSONValue {
      ["title": .string(text), "shortStatus": .string(text), "data": ["ball": "home"]]
    }

    @Test func `Shiny phones listen to a channel from their start to their end`() throws {
      let installation = try installation(app: "ShinyActivityAttributes")
      let phones = installation.phones
      try installation.serve(
        "PUT", "game-1",
        [
          "attributes_type": "ShinyActivityAttributes",
          "attributes": ["kind": "score", "values": ["game": "1"]],
          "recipients": .array(Self.fans.map { ["user_id": .string($0)] }),
          "content_state": Self.score("0 : 0"), "channel": "create",
        ])
      try phones.awaitTruth(cards: 3)
      for goals in 1...3 {
        try installation.serve(
          "PATCH", "game-1", ["content_state": Self.score("\(goals) : 0")])
        try phones.awaitTruth(cards: 3)
      }
      // A card that listens has no token of its own: nothing but its start tells of it, and
      // another push-to-start token must not begin it anew.
      try phones.make("mia", "rotate")
      try phones.awaitHeard()
      try installation.serve("PATCH", "game-1", ["content_state": Self.score("3 : 1")])
      try phones.awaitTruth(cards: 3)
      try installation.wait(for: "the start that the new token asked for to be dropped") {
        try installation.metric(
          #"lockstep_stage_messages_total{outcome="superseded",stage="apns"}"#, of: .apnsSender)
          >= 1
      }
      try installation.serve("DELETE", "game-1", ["content_state": Self.score("3 : 2")])
      try phones.awaitTruth(cards: 3)
      let seen = try installation.serve("GET", "game-1")
      for recipient in seen["recipients"]?.elements ?? [] {
        #expect(recipient["bound_tokens"] == [])
      }
      for fan in Self.fans {
        let cards = try phones.cards(of: fan)
        #expect(cards.map(\.standing) == ["ended"], "\(fan)")
        #expect(cards.first?.json["content_state"]?["title"] == "3 : 2")
        #expect(try phones.pushes(to: fan).map(\.event) == ["start"])
      }
      // Each state once, the first too, for whoever begins to listen; then the end.
      let sent = try broadcasts(installation)
      #expect(sent.map { $0["event"] } == Array(repeating: "update", count: 5) + ["end"])
      #expect(sent.allSatisfy { $0["status"] == 200 })
    }

    @Test func `a channel that is not there lets each card go by itself`() throws {
      let installation = try installation()
      try installation.serve(
        "PUT", "list-1", Self.start("list-1", channel: ["id": "bm8gc3VjaA=="]))
      try installation.serve("PATCH", "list-1", ["content_state": Self.state(1)])
      try installation.phones.awaitTruth(cards: 3)
      let seen = try installation.serve("GET", "list-1")
      #expect(seen["channel"]?["problem"] == "400 ChannelNotRegistered")
      #expect(try broadcasts(installation).isEmpty)
    }

    @Test func `who joins later listens too, and states of their own are refused`() throws {
      let installation = try installation()
      let phones = installation.phones
      let first = Self.start("list-1", channel: ["storage": "none"])
      try installation.serve("PUT", "list-1", first)
      try phones.awaitTruth(cards: 3)
      try phones.add("late", app: "ShoppingActivityAttributes")
      var wish = first
      if case .object(var members) = wish {
        members["recipients"] = .array((Self.fans + ["late"]).map { ["user_id": .string($0)] })
        wish = .object(members)
      }
      try installation.serve("PUT", "list-1", wish)
      try phones.awaitTruth(cards: 4)
      try installation.serve("PATCH", "list-1", ["content_state": Self.state(3)])
      try phones.awaitTruth(cards: 4)
      let own: JSONValue = ["recipients": [["user_id": "mia", "content_state": Self.state(5)]]]
      let answer = try installation.send(
        "kitchen", "PATCH", "/api/activities/list-1", own.encoded)
      #expect(answer.status == 422)
      #expect(answer.text.contains("one state on all cards"))
    }
  }
}
