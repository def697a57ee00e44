import Activities
import Foundation
import HTTPServing
import Pipeline
import Pushes
import Testing
import Vocabulary

@testable import HTTPAPI

extension World {
  static let order = "/api/activities/order-1"

  func asService(
    _ method: String, _ target: String = order, _ body: JSONValue? = nil,
    headers: [String: String] = [:]
  ) throws -> HTTPResponse {
    try ask(method, target, as: "shop", scope: "service", body, headers: headers)
  }

  /// What a Shiny app shows of an order; a change with nil leaves a member out.
  static func shiny(_ changes: [String: JSONValue?] = [:]) -> JSONValue {
    var body: [String: JSONValue] = [
      "attributes_type": "ShinyActivityAttributes",
      "attributes": ["kind": "delivery", "values": ["orderId": "A-1"]],
      "recipients": [["user_id": "dennis"], ["user_id": "jaqueline"]],
      "content_state": ["title": "Confirmed", "progress": 0],
      "alert": ["title": "Your order", "body": "is confirmed"],
    ]
    for (name, value) in changes { body[name] = value }
    return .object(body)
  }
}

@Suite struct ActivityRouteTests {
  private static let order = World.order

  @Test(arguments: StoreKind.allCases)
  func `an activity is started, read, changed and ended`(kind: StoreKind) throws {
    let world = try World(kind)
    let started = try world.asService("PUT", Self.order, World.shiny())
    #expect(started.status == 201)
    #expect(started.header("location") == Self.order)
    #expect(started.header("etag") == "\"1\"")
    let body: JSONValue = ["content_state": ["title": "On its way", "progress": .number(0.5)]]
    let changed = try world.asService("PATCH", Self.order, body)
    #expect(changed.status == 200)
    #expect(try changed.json()["rev"] == 2)
    let read = try world.asService("GET").json()
    #expect(read["state"] == "live")
    #expect(read["recipients"]?.at(0)?["started"] == false)
    #expect(read["recipients"]?.at(1)?["context_key"] == "activity:order-1:jaqueline")
    #expect(
      read["recipients"]?.at(1)?["content_state"]
        == ["title": "On its way", "progress": .number(0.5), "data": [:]])
    let ended = try world.asService("DELETE", Self.order, ["content_state": ["title": "Here"]])
    #expect(ended.status == 200)
    #expect(try ended.json()["end_reason"] == "ended")
    #expect(
      try world.eventTypes() == ["activity.started", "activity.updated", "activity.ended"])
    // Ended again it stays as it is; started again it does not come back.
    #expect(try world.asService("DELETE").json()["rev"] == 3)
    let again = try world.asService("PUT", Self.order, World.shiny())
    #expect(again.status == 409)
    #expect(try again.json()["activity"]?["rev"] == 3)
    #expect(try world.eventTypes().count == 3)
  }

  @Test(arguments: StoreKind.allCases)
  func `a recipient's Android phone is told of, and what FCM took for it`(kind: StoreKind) throws {
    let world = try World(kind)
    _ = try world.asService("PUT", Self.order, World.shiny())
    let token = try FCMToken("Phone:1")
    let context = ContextKey("activity:order-1:dennis")
    func recipient(_ place: Int) throws -> JSONValue? {
      try world.asService("GET").json()["recipients"]?.at(place)
    }
    try world.store.write { rows in
      try rows.register(
        FCMRegistration(
          userID: UserID("dennis"), token: token, deviceID: nil, packageName: nil,
          registeredAt: World.start))
    }
    #expect(try recipient(0)?["android_phones"] == [.string(token.fingerprint)])
    #expect(try recipient(0)?["started"] == false)
    #expect(try recipient(0)?["last_delivered_rev"] == .null)
    _ = try world.store.write {
      try $0.raiseDeliveredRev(of: context, to: token, rev: 1, at: World.start)
    }
    #expect(try recipient(0)?["started"] == true)
    #expect(try recipient(0)?["last_delivered_rev"] == 1)
    #expect(try recipient(1)?["android_phones"] == [])
    #expect(try recipient(1)?["started"] == false)
  }

  @Test func `said twice it happens once`() throws {
    let world = try World()
    _ = try world.asService("PUT", Self.order, World.shiny())
    let again = try world.asService("PUT", Self.order, World.shiny())
    #expect(again.status == 200)
    #expect(try again.json()["rev"] == 1)
    let patch: JSONValue = ["content_state": ["title": "x"], "alert": ["title": "a", "body": "b"]]
    let key = ["idempotency-key": "k1"]
    let first = try world.asService("PATCH", Self.order, patch, headers: key)
    let second = try world.asService("PATCH", Self.order, patch, headers: key)
    #expect(try first.json()["rev"] == 2)
    #expect(second.header("idempotency-replayed") == "true")
    #expect(try world.eventTypes().count == 2)
  }

  /// The store reads back `1` where `1.0` was said.
  @Test(arguments: StoreKind.allCases)
  func `said twice it happens once, however a number is spelled`(kind: StoreKind) throws {
    let world = try World(kind)
    let text = """
      {"attributes_type":"ShinyActivityAttributes","attributes":{"values":{"orderId":"A-1"}},
      "recipients":[{"user_id":"dennis"}],"content_state":{"title":"t","progress":1.0}}
      """
    for status in [201, 200] {
      let answer = try world.ask("PUT", Self.order, as: "shop", scope: "service", text: text)
      #expect(answer.status == status)
      #expect(try answer.json()["rev"] == 1)
    }
  }

  @Test func `if-match holds back who knows an older rev`() throws {
    let world = try World()
    let early = try world.asService(
      "PUT", Self.order, World.shiny(), headers: ["if-match": "1"])
    #expect(early.status == 412)
    _ = try world.asService("PUT", Self.order, World.shiny())
    let patch: JSONValue = ["content_state": ["title": "x"]]
    let stale = try world.asService("PATCH", Self.order, patch, headers: ["if-match": "\"7\""])
    #expect(stale.status == 412)
    #expect(try stale.json()["activity"]?["rev"] == 1)
    #expect(
      try world.asService("PATCH", Self.order, patch, headers: ["if-match": "1"]).status == 200)
  }

  @Test func `each recipient may have a state of its own`() throws {
    let world = try World()
    let recipients: JSONValue = [
      ["user_id": "dennis", "content_state": ["title": "Yours"]], ["user_id": "jaqueline"],
    ]
    let answer = try world.asService(
      "PUT", Self.order, World.shiny(["recipients": recipients]))
    #expect(try answer.json()["recipients"]?.at(0)?["content_state"]?["title"] == "Yours")
    #expect(try answer.json()["recipients"]?.at(1)?["content_state"]?["title"] == "Confirmed")
    // One of them changes: the other's card has nothing new.
    let patch: JSONValue = [
      "recipients": [["user_id": "jaqueline", "content_state": ["title": "Hers"]]]
    ]
    let changed = try world.asService("PATCH", Self.order, patch).json()
    #expect(changed["recipients"]?.at(0)?["rev"] == 1)
    #expect(changed["recipients"]?.at(1)?["rev"] == 2)
    // Who is not named any more loses the card, for good.
    let alone = World.shiny(["recipients": [["user_id": "dennis"]]])
    let removed = try world.asService("PUT", Self.order, alone).json()
    #expect(removed["recipients"]?.at(1)?["state"] == "ended")
    let back = try world.asService("PUT", Self.order, World.shiny())
    #expect(back.status == 422)
    #expect(try back.pointers() == ["/recipients/1/user_id"])
  }

  @Test(
    arguments: [
      (["attributes_type": "Nothing"], "/attributes_type"),
      (["attributes": ["kind": "delivery"]], "/attributes/values"),
      (["content_state": ["title": 3]], "/content_state/title"),
      (["content_state": ["tittle": "x"]], "/content_state/tittle"),
      (["content_state": ["title": "x", "data": ["n": 1]]], "/content_state/data/n"),
      (
        [
          "content_state": [
            "title": "x", "progressStart": 1_781_809_923, "progressEnd": 803_476_800,
          ]
        ], "/content_state/progressStart"
      ),
      (
        ["content_state": ["title": "x", "body": .string(String(repeating: "x", count: 1001))]],
        "/content_state/body"
      ),
      (
        [
          "content_state": [
            "title": "x",
            "data": [
              "a": .string(String(repeating: "ü", count: 900)),
              "b": .string(String(repeating: "ü", count: 950)),
              "c": .string(String(repeating: "ü", count: 300)),
            ],
          ]
        ], "/content_state/data"
      ),
      (["recipients": []], "/recipients"), (["recipients": nil], "/recipients"),
      (["recipients": [["user_id": "a"], ["user_id": "a"]]], "/recipients/1/user_id"),
      (
        ["recipients": [["user_id": "a", "content_state": ["title": 1]]]],
        "/recipients/0/content_state/title"
      ),
      (["content_state": nil], "/recipients/0/content_state"),
      (["alert": ["title": "only"]], "/alert/body"), (["colour": "red"], "/colour"),
      (["alert": ["title": "a", "body": "b", "sound": 1]], "/alert/sound"),
      (["alert": nil, "content_state": ["progress": 1]], "/alert"),
      (["expires_at": "2020-01-01T00:00:00Z"], "/expires_at"),
      (["expires_at": "tomorrow"], "/expires_at"),
      (["relevance_score": "high"], "/relevance_score"),
    ] as [([String: JSONValue?], String)])
  func `what a phone would swallow is a 422 that names the field`(
    changes: [String: JSONValue?], pointer: String
  ) throws {
    let world = try World()
    let answer = try world.asService("PUT", Self.order, World.shiny(changes))
    #expect(answer.status == 422)
    #expect(try answer.pointers().first == pointer)
    #expect(try world.eventTypes().isEmpty)
  }

  @Test func `what never changes may not be said otherwise`() throws {
    let world = try World()
    _ = try world.asService("PUT", Self.order, World.shiny())
    let other = World.shiny(["attributes": ["values": ["orderId": "B-2"]]])
    let answer = try world.asService("PUT", Self.order, other)
    #expect(answer.status == 422)
    #expect(try answer.pointers() == ["/attributes"])
  }

  @Test func `ever new recipients do not make an activity grow without end`() throws {
    let world = try World()
    func put(_ turn: Int) throws -> HTTPResponse {
      let recipients = (0..<500).map { JSONValue.object(["user_id": .string("u\(turn)_\($0)")]) }
      return try world.asService(
        "PUT", Self.order, World.shiny(["recipients": .array(recipients)]))
    }
    #expect(try put(0).status == 201)
    #expect(try put(1).status == 200)
    let refused = try put(2)
    #expect(refused.status == 422)
    #expect(try refused.pointers() == ["/recipients"])
    #expect(try world.asService("GET").json()["rev"] == 2)
  }

  @Test func `only a service drives activities, and a user sees its own card alone`() throws {
    let world = try World()
    #expect(try world.ask("PUT", Self.order, as: "dennis", World.shiny()).status == 403)
    let recipients: JSONValue = [
      ["user_id": "dennis"], ["user_id": "jaqueline", "content_state": ["title": "Secret"]],
    ]
    _ = try world.asService("PUT", Self.order, World.shiny(["recipients": recipients]))
    let own = try world.get("/api/activities", as: "dennis")
    #expect(try own.json()["activities"]?.at(0)?["activity_key"] == "order-1")
    #expect(!String(decoding: own.data, as: UTF8.self).contains("Secret"))
    #expect(try world.get("/api/activities", as: "mallory").json() == ["activities": []])
  }

  @Test(arguments: ["a:b", "ü", "a%2Fb"])
  func `a key that no context key can hold is refused`(key: String) throws {
    let answer = try World().asService("PUT", "/api/activities/\(key)", World.shiny())
    #expect([404, 422].contains(answer.status))
  }

  @Test func `nobody has an activity that was never started`() throws {
    let world = try World()
    for method in ["GET", "DELETE"] {
      #expect(try world.asService(method).status == 404)
    }
    #expect(try world.asService("PATCH", Self.order, ["content_state": [:]]).status == 404)
  }
}

extension JSONValue {
  /// Nil beyond the end, and for what is no array.
  func at(_ place: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(place) else { return nil }
    return elements[place]
  }
}
