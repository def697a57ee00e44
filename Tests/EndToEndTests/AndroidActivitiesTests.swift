import Foundation
import Pipeline
import Testing
import Vocabulary

extension EndToEnd {
  /// Activities of other programs on Android phones, on the real stack: Shiny's contract and a
  /// declared one.
  @Suite struct AndroidActivitiesTests {
    private static let roles: [Role] = [
      .simulator, .api, .payloadBuilder, .apnsSender, .fcmSender, .notifier,
    ]

    private func installation() throws -> Installation {
      let installation = try Installation()
      installation.settings[Installation.contractsSetting] =
        Installation.contractsFolder.path(percentEncoded: false)
      try installation.offerFCM()
      try installation.useShortRungs()
      try installation.applyTopology()
      for role in Self.roles { try installation.start(role) }
      return installation
    }

    private static let order: JSONValue = [
      "attributes_type": "ShinyActivityAttributes",
      "attributes": ["kind": "delivery", "values": ["order": "Order 1"]],
      "recipients": [["user_id": "sina"], ["user_id": "sam"]],
      "content_state": ["title": "Order 1", "progress": 0],
      "alert": ["title": "Order 1", "body": "is confirmed"], "deep_link": "app://orders/1",
    ]

    private static func shopping(_ done: Int) -> JSONValue {
      [
        "headline": "Wochenmarkt", "done": .integer(Int64(done)), "total": 9,
        "rev": .integer(Int64(done + 1)), "next": [["name": "Fenchel"]],
        "changedAt": .string(SystemTime().now().rfc3339),
      ]
    }

    private static let list: JSONValue = [
      "attributes_type": "ShoppingActivityAttributes",
      "attributes": ["listKey": "list-1", "listName": "Samstag"],
      "recipients": [["user_id": "mia"]], "content_state": shopping(0),
    ]

    private func onTheWay(_ stop: Int) -> JSONValue {
      [
        "content_state": [
          "title": "On its way", "progress": .number(Double(stop) / 5),
          "data": ["stop": .string("\(stop)")],
        ]
      ]
    }

    @Test func `activities of Shiny and of a declared contract show the truth on Android`() throws {
      let installation = try installation()
      let (phones, androids) = (installation.phones, installation.androids)
      try androids.add("sina", id: "pixel")
      try androids.add("mia", id: "fairphone")
      // One of the order's recipients has an iPhone.
      try phones.add("sam", app: "ShinyActivityAttributes")
      try installation.serve("PUT", "order-1", Self.order)
      try installation.serve("PUT", "list-1", Self.list)
      try phones.awaitTruth(cards: 3)
      let card = try #require(try androids.cards(of: "pixel").first)
      #expect(card["kind"] == "ShinyActivityAttributes")
      #expect(card["attributes"]?["values"]?["order"] == "Order 1")
      #expect(try androids.cards(of: "fairphone").first?["kind"] == "ShoppingActivityAttributes")
      // One loses its process, the other is away: the newest state brings everything back.
      try androids.make("pixel", "forget")
      try androids.make("fairphone", "offline")
      for step in 1...4 {
        try installation.serve("PATCH", "order-1", onTheWay(step))
        try installation.serve(
          "PATCH", "list-1", ["content_state": Self.shopping(step)])
      }
      try installation.wait(for: "FCM to keep one message for the phone that is away") {
        try androids.seen("fairphone")["held"] == 1
      }
      try androids.make("fairphone", "online")
      try phones.awaitTruth(cards: 3)
      #expect(
        try androids.cards(of: "pixel").first?["content_state"]?["data"]?["stop"] == "4")
      try installation.serve(
        "DELETE", "order-1", ["content_state": ["title": "Here", "progress": 1]])
      try installation.serve("DELETE", "list-1")
      try phones.awaitTruth(cards: 3)
      for phone in ["pixel", "fairphone"] {
        #expect(try androids.cards(of: phone).map { $0["standing"] } == ["ended"])
      }
      #expect(try installation.messages(in: "dead.fcm").isEmpty)
    }

    @Test func `an activity that its program forgets ends on Android too`() throws {
      let installation = try installation()
      try installation.androids.add("sina", id: "pixel")
      guard case .object(var members) = Self.order else { return }
      members["recipients"] = [["user_id": "sina"]]
      members["expires_at"] = .string((SystemTime().now() + .seconds(8)).rfc3339)
      try installation.serve("PUT", "order-1", .object(members))
      try installation.phones.awaitTruth(cards: 1)
      try installation.wait(for: "the card to end") {
        try installation.androids.cards(of: "pixel").map { $0["standing"] } == ["ended"]
      }
      try installation.phones.awaitTruth(cards: 1)
    }
  }

  /// FCM refuses the project for a while, as when a service account was taken away.
  @Suite struct FCMLaneTests {
    @Test func `while FCM refuses the project jobs wait uncounted, and it recovers by itself`()
      throws
    {
      let installation = try Installation()
      try installation.offerFCM()
      try installation.useShortRungs()
      try installation.applyTopology()
      for role in [Role.simulator, .api, .payloadBuilder, .apnsSender, .fcmSender, .notifier] {
        try installation.start(role)
      }
      let (phones, androids) = (installation.phones, installation.androids)
      try phones.add("dennis")
      for number in 1...6 { try androids.add("jaqueline", id: "android-\(number)") }
      try phones.setFaults([
        [
          "match": ["push_type": "fcm"], "action": "answer", "status": 403,
          "reason": "PERMISSION_DENIED",
        ]
      ])
      let session = try CookSession.begin(in: installation)
      try phones.startLocally(session, on: "dennis")
      try installation.wait(for: "the lane to open") {
        try installation.metric("lockstep_fcm_incidents_total", of: .fcmSender) == 1
      }
      #expect(
        try installation.metric(
          #"lockstep_lane_open{environment="fcm",topic="cook-example"}"#, of: .fcmSender) == 1)
      try session.act("jaqueline", "join")
      #expect(try androids.seen("android-1")["cards"] == [])
      try phones.setFaults([])
      try phones.awaitTruth(cards: 7, within: .seconds(120))
      #expect(
        try installation.metric(
          #"lockstep_lane_open{environment="fcm",topic="cook-example"}"#, of: .fcmSender) == 0)
      #expect(try installation.messages(in: "dead.fcm").isEmpty)
      let explained = try Programs.lockstep(
        "explain", session.id, "--user", "jaqueline", environment: installation.settings)
      #expect(explained.output.contains("6 messages to Android"), "\(explained.output)")
      let told = try Programs.lockstep(
        "tokens", "list", "--kind", "fcm", "--json", environment: installation.settings)
      guard case .array(let rows) = try JSONValue(parsing: Data(told.output.utf8)) else {
        Issue.record("\(told.output)")
        return
      }
      #expect(rows.count == 6)
      #expect(rows.allSatisfy { $0["kind"] == "fcm" })
    }
  }
}
