import Foundation
import Pipeline
import Testing
import Vocabulary

extension EndToEnd {
  /// Every kind of phone in one run, on the real stack.
  @Suite struct JointRunTests {
    private static let roles: [Role] = [
      .simulator, .api, .payloadBuilder, .apnsSender, .fcmSender, .notifier,
    ]
    private static let shiny = ["sina", "sam"]
    private static let iPhones = CookSession.people + shiny

    /// Two phones with the cook app, two with an app built with Shiny, and Jaqueline's Android
    /// phone, which shows the meal and the order.
    private func installation() throws -> Installation {
      let installation = try Installation()
      try installation.offerFCM()
      try installation.applyTopology()
      for role in Self.roles { try installation.start(role) }
      for user in CookSession.people { try installation.phones.add(user) }
      for user in Self.shiny { try installation.phones.add(user, app: "ShinyActivityAttributes") }
      try installation.androids.add("jaqueline", id: "pixel")
      return installation
    }

    private static func states(_ users: [String], _ step: Int) -> JSONValue {
      .array(
        users.map { user in
          [
            "user_id": .string(user),
            "content_state": [
              "title": .string("\(user.capitalized)'s part"), "progress": .number(Double(step) / 8),
              "data": ["step": .string("\(step)")],
            ],
          ]
        })
    }

    private static func order(_ number: Int, _ users: [String]) -> JSONValue {
      [
        "attributes_type": "ShinyActivityAttributes",
        "attributes": ["kind": "delivery", "values": ["order": .string("\(number)")]],
        "recipients": states(users, 0),
        "alert": ["title": .string("Order \(number)"), "body": "is confirmed"],
        "deep_link": .string("app://orders/\(number)"),
      ]
    }

    private static let everybody = shiny + ["jaqueline"]

    @Test func `phones of every kind show the truth after new tokens, a swipe and a pause`() throws
    {
      let installation = try installation()
      let (phones, androids) = (installation.phones, installation.androids)
      let session = try CookSession.begin(in: installation)
      try phones.startLocally(session, on: "dennis")
      let wish = Self.order(1, Self.everybody)
      try installation.serve("PUT", "order-1", wish)
      try phones.awaitTruth(cards: 6)
      try installation.serve("PUT", "order-1", wish)
      try installation.serve("PUT", "order-2", Self.order(2, ["sina"]))
      try phones.awaitTruth(cards: 7)

      try giveNewTokens(installation)
      try phones.awaitTruth(cards: 7)
      // Swiped away, and then another push-to-start token: it does not come back.
      try phones.make("sina", "dismiss", of: "start:activity:order-2")
      try phones.awaitHeard()
      try phones.make("sina", "rotate")
      try phones.awaitHeard()

      try phones.make("sam", "offline")
      for step in CookSession.answering { try session.act(step.user, step.action, step.body) }
      for step in 1...4 {
        let state = Self.states(Self.everybody, step)
        try installation.serve("PATCH", "order-1", ["recipients": state])
        try installation.serve("PATCH", "order-2", ["recipients": Self.states(["sina"], step)])
      }
      try awaitDelivered("sam", of: "order-1", installation)
      #expect(try phones.cards(of: "sam").first?.step == "0")
      try phones.make("sam", "online")
      try session.cook()
      try phones.awaitTruth(cards: 6)
      try expectTruth(of: session, installation)

      try installation.serve("DELETE", "order-1")
      try installation.serve("DELETE", "order-2")
      try session.playToDecision()
      try phones.awaitTruth(cards: 6)
      try expectTruth(of: session, installation)
      for phone in Self.iPhones {
        #expect(try phones.cards(of: phone).last?.standing == "ended", "\(phone)")
      }
      #expect(try phones.cards(of: "sina").map(\.standing) == ["dismissed", "ended"])
      #expect(try androids.cards(of: "pixel").map { $0["standing"]?.text } == ["ended", "ended"])
      try expectOneStartEach(installation)
    }

    /// Every phone gets other tokens, and its app registers them.
    private func giveNewTokens(_ installation: Installation) throws {
      let before = try installation.phones.pushes(to: "pixel").count
      for phone in Self.iPhones { try installation.phones.make(phone, "rotate") }
      try installation.androids.make("pixel", "rotate")
      try installation.phones.awaitHeard()
      try installation.wait(for: "both cards to come to the new FCM token") {
        try installation.phones.pushes(to: "pixel").count == before + 2
      }
    }

    private func recipient(_ user: String, of key: String, _ installation: Installation) throws
      -> JSONValue
    {
      let all = try installation.serve("GET", key)["recipients"]?.elements ?? []
      return try #require(all.first { $0["user_id"] == .string(user) })
    }

    private func awaitDelivered(_ user: String, of key: String, _ installation: Installation) throws
    {
      try installation.wait(for: "the newest state of \(key) to be taken for \(user)") {
        let seen = try recipient(user, of: key, installation)
        return seen["last_delivered_rev"] == seen["rev"]
      }
    }

    // MARK: What each phone shows

    private func expectTruth(of session: CookSession, _ installation: Installation) throws {
      let (phones, androids) = (installation.phones, installation.androids)
      let pixel = try androids.cards(of: "pixel")
      for user in CookSession.people {
        let truth = try session.seen(by: user)
        let card = try #require(try phones.cards(of: user, in: session).first)
        #expect(card.rev == truth["rev"]?.whole, "\(user)")
        #expect(card.json["content_state"]?["statusLabel"] == truth["status_label"], "\(user)")
        guard user == "jaqueline" else { continue }
        let own = try #require(pixel.first { $0["kind"] == "CookSuggestActivityAttributes" })
        #expect(own["rev"] == truth["rev"])
        #expect(own["content_state"] == card.json["content_state"])
      }
      for user in Self.everybody {
        let truth = try recipient(user, of: "order-1", installation)
        // The same as its own app is told.
        let own = try installation.ask(user, "GET", "/api/activities")["activities"]?.elements
        let told = try #require(own?.first { $0["activity_key"] == "order-1" })
        #expect(told["content_state"] == truth["content_state"], "\(user)")
        #expect(told["rev"] == truth["rev"], "\(user)")
        if user == "jaqueline" {
          let card = try #require(pixel.first { $0["kind"] == "ShinyActivityAttributes" })
          #expect(card["rev"] == truth["rev"])
          #expect(card["content_state"] == truth["content_state"])
        } else {
          let card = try #require(
            try phones.cards(of: user).first { $0.json["attributes"] == told["attributes"] })
          #expect(card.json["content_state"] == truth["content_state"], "\(user)")
          #expect(truth["last_delivered_rev"] == truth["rev"], "\(user)")
        }
      }
    }

    /// Nothing else was refused, no card came twice, and no start went to another token of a phone.
    private func expectOneStartEach(_ installation: Installation) throws {
      let all = try installation.phones.allPushes()
      // The card that was swiped away has a dead token, which is tried once and pruned.
      let refused = all.filter { $0["status"] != 200 }
      #expect(refused.map { $0["status"] } == [410])
      #expect(refused.map { $0["phone"] } == ["sina"])
      let starts = all.filter { $0["event"] == "start" }
      func count(_ names: String..., of pushes: [JSONValue]) -> [Int] {
        Dictionary(grouping: pushes) { push in names.map { push[$0] } }.map(\.value.count)
      }
      let (android, apple) = (
        starts.filter { $0["push_type"] == "fcm" }, starts.filter { $0["push_type"] != "fcm" }
      )
      #expect(count("phone", "collapse_id", of: apple) == [1, 1, 1, 1])
      // A message starts a card again where FCM knows the phone by another token.
      #expect(count("token", "collapse_id", of: android) == [1, 1, 1, 1])
    }
  }
}

extension Phones.Card {
  fileprivate var step: String? { json["content_state"]?["data"]?["step"]?.text }
}
