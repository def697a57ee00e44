import Foundation
import Pipeline
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  /// Three kinds of app beside each other, on the real stack.
  @Suite struct ActivitiesTests {
    private static let roles: [Role] = [.simulator, .api, .payloadBuilder, .apnsSender, .notifier]

    private func installation() throws -> Installation {
      let installation = try Installation()
      installation.settings[Installation.contractsSetting] =
        Installation.contractsFolder.path(percentEncoded: false)
      try installation.applyTopology()
      for role in Self.roles { try installation.start(role) }
      return installation
    }

    private static func order(_ users: [String], _ title: String) -> JSONValue {
      [
        "attributes_type": "ShinyActivityAttributes",
        "attributes": ["kind": "delivery", "values": ["order": .string(title)]],
        "recipients": .array(users.map { ["user_id": .string($0)] }),
        "content_state": ["title": .string(title), "progress": 0],
        "alert": ["title": .string(title), "body": "is confirmed"], "deep_link": "app://orders/1",
      ]
    }

    private static func shopping(_ done: Int) -> JSONValue {
      [
        "headline": "Wochenmarkt", "done": .integer(Int64(done)), "total": 9,
        "rev": .integer(Int64(done + 1)), "next": [["name": "Fenchel"]],
        "changedAt": .string(SystemTime().now().rfc3339),
      ]
    }

    @Test func `phones of three kinds of app all show the truth`() throws {
      let installation = try installation()
      let phones = installation.phones
      for user in CookSession.people { try phones.add(user) }
      for user in ["sina", "sam"] { try phones.add(user, app: "ShinyActivityAttributes") }
      try phones.add("mia", app: "ShoppingActivityAttributes")
      let session = try CookSession.begin(in: installation)
      try phones.startLocally(session, on: "dennis")
      try installation.serve("PUT", "order-1", Self.order(["sina", "sam"], "Order 1"))
      let list: JSONValue = [
        "attributes_type": "ShoppingActivityAttributes",
        "attributes": ["listKey": "list-1", "listName": "Samstag"],
        "recipients": [["user_id": "mia"]], "content_state": Self.shopping(0),
      ]
      try installation.serve("PUT", "list-1", list)
      try phones.awaitTruth(cards: 5)
      // Said again it starts nothing; a second activity beside the first does.
      try installation.serve("PUT", "order-1", Self.order(["sina", "sam"], "Order 1"))
      try installation.serve("PUT", "order-2", Self.order(["sina"], "Order 2"))
      try phones.awaitTruth(cards: 6)
      // One is offline, one gets new tokens, one takes a card away.
      try phones.make("sam", "offline")
      try phones.make("sina", "rotate")
      try phones.make("mia", "rotate")
      try phones.make("sina", "dismiss", of: "start:activity:order-2")
      for step in CookSession.answering.prefix(3) {
        try session.act(step.user, step.action, step.body)
      }
      for done in 1...4 {
        try installation.serve("PATCH", "list-1", ["content_state": Self.shopping(done)])
        let state: JSONValue = [
          "title": "On its way", "progress": .number(Double(done) / 5),
          "data": ["stop": .string("\(done)")],
        ]
        try installation.serve("PATCH", "order-1", ["content_state": state])
        try installation.serve("PATCH", "order-2", ["content_state": state])
      }
      try installation.wait(for: "the newest state to be accepted for the phone that is away") {
        let seen = try installation.serve("GET", "order-1")
        return seen["recipients"]?.second?["last_delivered_rev"] == seen["rev"]
      }
      try phones.make("sam", "online")
      try phones.awaitTruth(cards: 5)
      try installation.serve(
        "DELETE", "order-1", ["content_state": ["title": "Here", "progress": 1]])
      try installation.serve("DELETE", "list-1")
      for step in CookSession.answering.dropFirst(3) {
        try session.act(step.user, step.action, step.body)
      }
      try phones.awaitTruth(cards: 5)
      for (phone, count) in [("sina", 2), ("sam", 1), ("mia", 1), ("jaqueline", 1)] {
        #expect(try phones.cards(of: phone).count == count)
      }
      #expect(try phones.cards(of: "sam").map(\.standing) == ["ended"])
    }

    @Test func `an activity that its program forgets ends by itself`() throws {
      let installation = try installation()
      try installation.phones.add("sina", app: "ShinyActivityAttributes")
      var order = Self.order(["sina"], "Order 1")
      let soon = SystemTime().now() + .seconds(8)
      if case .object(var members) = order {
        members["expires_at"] = .string(soon.rfc3339)
        order = .object(members)
      }
      try installation.serve("PUT", "order-1", order)
      try installation.wait(for: "the card to go") {
        try installation.phones.cards(of: "sina").map(\.standing) == ["removed"]
      }
      #expect(try installation.serve("GET", "order-1")["end_reason"] == "ttl")
      try installation.phones.awaitTruth(cards: 1)
    }
  }

  @Suite struct ContractCommandTests {
    private static func file(_ name: String) -> String {
      Installation.contractsFolder.appending(path: name).path(percentEncoded: false)
    }

    private func written(_ text: String) throws -> String {
      let file = FileManager.default.temporaryDirectory.appending(
        path: "lockstep-contract-\(UUID().uuidString).json")
      try Data(text.utf8).write(to: file)
      return file.path(percentEncoded: false)
    }

    @Test func `a contract that can be used is said to be`() throws {
      let outcome = try Programs.lockstep("contract", "check", Self.file("shopping.json"))
      #expect(outcome.code == 0)
      let source = try Programs.lockstep("contract", "swift", Self.file("budget.json"))
      #expect(source.output.contains("public struct BudgetActivityAttributes"))
      let builtIn = try Programs.lockstep("contract", "swift", "ShinyActivityAttributes")
      #expect(builtIn.output.contains("public var values: [String: String]"))
    }

    @Test func `a change that breaks activities on screen is refused`() throws {
      let old = try String(contentsOfFile: Self.file("shopping.json"), encoding: .utf8)
      let new = try written(
        old.replacing(#""required": ["headline""#, with: #""required": ["lastBy", "headline""#))
      let outcome = try Programs.lockstep(
        "contract", "check", new, "--against", Self.file("shopping.json"), "--json")
      #expect(outcome.code == 2)
      guard case .array(let rows) = try JSONValue(parsing: Data(outcome.output.utf8)) else {
        Issue.record("\(outcome.output)")
        return
      }
      #expect(rows.map { $0["pointer"] } == ["/properties/contentState/properties/lastBy"])
    }

    @Test func `what the API would refuse is told before it is sent`() throws {
      let state = try written(#"{"title":"x","data":{"stops":2},"progressStart":1781809923}"#)
      let outcome = try Programs.lockstep(
        "contract", "check", "ShinyActivityAttributes", "--content-state", state)
      #expect(outcome.code == 2)
      #expect(outcome.output.contains("/data/stops"))
      #expect(outcome.output.contains("/progressStart"))
    }

    @Test func `a folder with a contract that cannot be used stops the role`() throws {
      let folder = FileManager.default.temporaryDirectory.appending(
        path: "lockstep-contracts-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(#"{"title":"X","properties":{}}"#.utf8).write(
        to: folder.appending(path: "broken.json"))
      let outcome = try Programs.lockstep(
        "api",
        environment: [
          Installation.contractsSetting: folder.path(percentEncoded: false)
        ])
      #expect(outcome.code == 78)
      #expect(outcome.errors.contains("broken.json"))
    }
  }
}

extension JSONValue {
  fileprivate var second: JSONValue? {
    guard case .array(let elements) = self, elements.count > 1 else { return nil }
    return elements[1]
  }
}
