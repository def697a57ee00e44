import Activities
import Foundation
import HTTPServing
import Pipeline
import Pushes
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct RegistrationRouteTests {
  private static let path = "/api/apns/register"
  private static let token = String(repeating: "a1", count: 32)

  private func context(_ session: String, of user: String) -> JSONValue {
    .string("cooksuggest:\(session.split(separator: "/").last ?? ""):\(user)")
  }

  private func register(
    _ world: World, _ more: [String: JSONValue], as user: String = "dennis"
  ) throws -> HTTPResponse {
    let body: [String: JSONValue] = ["token": .string(Self.token), "kind": "alert"]
    return try world.post(Self.path, as: user, .object(body.merging(more) { $1 }))
  }

  @Test(arguments: [
    ("alert", TokenKind.alert), ("Device", .alert), ("la-pushToStart", .pushToStart),
    ("LiveActivityStart", .pushToStart),
  ])
  func `both dialects name the kinds`(name: String, kind: TokenKind) throws {
    let world = try World()
    let answer = try register(
      world, ["kind": .string(name), "environment": "sandbox", "device_id": "d1"])
    #expect(answer.status == 200)
    #expect(try answer.json() == ["registered": true])
    let rows = try world.store.read { try $0.tokens(of: [UserID("dennis")], kind: kind) }
    let row = try #require(rows[UserID("dennis")]?.first)
    #expect(row.token.hex == Self.token)
    #expect(row.environment == .sandbox)
    #expect(row.deviceID == "d1")
    #expect(row.registeredAt == World.start)
    #expect(try world.eventTypes() == (kind == .alert ? [] : ["token.registered"]))
  }

  @Test(arguments: StoreKind.allCases)
  func `an update token belongs to one's own card`(kind: StoreKind) throws {
    let world = try World(kind)
    let session = try world.begin()
    for name in ["la-update", "LiveActivityUpdate"] {
      let key = context(session, of: "jaqueline")
      let answer = try register(
        world, ["kind": .string(name), "context_key": key, "activity_id": "A1"], as: "jaqueline")
      #expect(answer.status == 200)
    }
    #expect(try world.eventTypes().dropFirst() == ["token.registered", "token.registered"])
    let found = try world.store.read {
      try $0.contextKey(ofActivity: "A1", of: UserID("jaqueline"))
    }
    #expect(found.map { JSONValue.string($0.text) } == context(session, of: "jaqueline"))
  }

  @Test(arguments: StoreKind.allCases)
  func `a context key that is not one's own is a 422 that tells nothing`(kind: StoreKind) throws {
    let world = try World(kind)
    let session = try world.begin()
    let keys: [JSONValue] = [
      context(session, of: "dennis"), context(session, of: "mallory"),
      context("cs_nothere", of: "mallory"), "cooksuggest::mallory", "cooksuggest:mallory",
      "activity:x:dennis", "mallory", "cooksuggest:a:b:mallory",
    ]
    var details: Set<String> = []
    for key in keys {
      let answer = try register(world, ["kind": "la-update", "context_key": key], as: "mallory")
      #expect(answer.status == 422)
      #expect(try answer.pointers() == ["/context_key"])
      details.insert(try answer.detail())
    }
    #expect(details.count == 1)
  }

  @Test(
    arguments: [
      (["kind": "la-update"], ["/context_key"]),
      (
        ["kind": "la-update", "attributes_type": "CookSuggestActivityAttributes"], ["/context_key"]
      ),
      (["context_key": "cooksuggest:a:dennis"], ["/context_key"]),
      (["kind": "la-end"], ["/kind"]), (["kind": .null], ["/kind"]), (["kind": 1], ["/kind"]),
      (["environment": "test"], ["/environment"]),
      (["frequent_pushes_enabled": "yes"], ["/frequent_pushes_enabled"]),
      (["deviceId": "x"], ["/deviceId"]), (["token": ""], ["/token"]),
      (["token": 7, "bundle_id": 7], ["/token", "/bundle_id"]),
      (["bundle_id": "app.example.cook.push-type.liveactivity"], ["/bundle_id"]),
      (["bundle_id": "app..cook"], ["/bundle_id"]), (["bundle_id": ""], ["/bundle_id"]),
    ] as [([String: JSONValue], [String])])
  func `a wrong field is named`(more: [String: JSONValue], pointers: [String]) throws {
    let world = try World()
    let answer = try register(world, more)
    #expect(answer.status == 422)
    #expect(try answer.pointers() == pointers)
    #expect(try world.events().isEmpty)
  }

  @Test func `an update token of another app's activity may come without context`() throws {
    let answer = try register(
      World(), ["kind": "la-update", "attributes_type": "ShinyActivityAttributes"])
    #expect(answer.status == 200)
  }

  @Test(arguments: [2, 64, 160, 512])
  func `hexadecimal digits of any even length are a token`(digits: Int) throws {
    let token = String(repeating: "F", count: digits)
    #expect(try register(World(), ["token": .string(token)]).status == 200)
  }

  @Test(arguments: [
    String(repeating: "b", count: 63), String(repeating: "b", count: 514),
    String(repeating: "bz", count: 32), "abc ", "日本",
  ])
  func `another token is refused and never repeated`(token: String) throws {
    for method in ["POST", "DELETE"] {
      let body: JSONValue = ["token": .string(token), "kind": "alert"]
      let answer = try World().ask(method, Self.path, as: "dennis", body)
      #expect(answer.status == 422)
      #expect(try answer.pointers() == ["/token"])
      #expect(!String(decoding: answer.data, as: UTF8.self).contains(token))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `registering again refreshes the one row`(kind: StoreKind) throws {
    let world = try World(kind)
    _ = try register(world, [:])
    world.time.advance(.seconds(60))
    #expect(try register(world, [:]).status == 200)
    let rows = try world.store.read { try $0.tokens(of: [UserID("dennis")], kind: .alert) }
    #expect(rows[UserID("dennis")]?.map(\.registeredAt) == [World.start + .seconds(60)])
  }

  @Test(arguments: StoreKind.allCases)
  func `unregistering takes only one's own rows, of one kind when asked`(kind: StoreKind) throws {
    let world = try World(kind)
    _ = try register(world, [:])
    _ = try register(world, ["kind": "la-pushToStart", "attributes_type": "X"])
    let hers: JSONValue = "abcd"
    _ = try register(world, ["token": hers], as: "jaqueline")
    func unregister(_ more: [String: JSONValue]) throws -> JSONValue {
      let body = ["token": JSONValue.string(Self.token)].merging(more) { $1 }
      return try world.ask("DELETE", Self.path, as: "dennis", .object(body)).json()
    }
    #expect(try unregister(["attributes_type": "Y"]) == ["unregistered": 0])
    #expect(try unregister(["kind": "LiveActivityStart"]) == ["unregistered": 1])
    #expect(try unregister([:]) == ["unregistered": 1])
    #expect(try unregister([:]) == ["unregistered": 0])
    #expect(try unregister(["token": hers]) == ["unregistered": 0])
    let rest = try world.store.read { try $0.tokens(of: [UserID("jaqueline")], kind: .alert) }
    #expect(rest[UserID("jaqueline")]?.count == 1)
  }

  @Test(arguments: StoreKind.allCases)
  func `nobody takes the address of a broadcast channel`(kind: StoreKind) throws {
    let world = try World(kind)
    let name = ActivityState.channelContext(of: ActivityKey("order-1"))
    let channel = Registration(
      userID: UserID(name.text), token: try PushToken(spelling: "dHN0LXNyY2gtY2hubA=="),
      kind: .update, contextKey: name, registeredAt: World.start)
    try world.store.write { try $0.register(channel) }
    for kind in ["alert", "la-pushToStart", "LiveActivityUpdate"] {
      let answer = try register(
        world, ["token": .string(channel.token.hex.uppercased()), "kind": .string(kind)])
      #expect(answer.status == 422)
      #expect(try answer.json()["errors"]?.at(0)?["pointer"] == "/token")
    }
    let rows = try world.store.read { try $0.updateTokens(of: [name]) }
    #expect(rows[name]?.map(\.token) == [channel.token])
  }

  @Test func `a user has at most 100 tokens of a kind, and may refresh those`() throws {
    let world = try World()
    func token(_ number: Int) -> JSONValue { .string(String(number + 0x1000, radix: 16)) }
    for number in 0..<100 {
      #expect(try register(world, ["token": token(number)]).status == 200)
    }
    #expect(try register(world, ["token": token(100)]).status == 429)
    #expect(try register(world, ["token": token(99)]).status == 200)
    #expect(try register(world, ["token": token(0), "kind": "la-pushToStart"]).status == 200)
  }

  /// One device may have several cards of one activity, but not without end.
  @Test func `a card has at most 100 tokens, also on one device`() throws {
    let world = try World()
    let session = try world.begin()
    func update(_ number: Int, activity: Int) throws -> Int {
      try register(
        world,
        [
          "token": .string(String(number + 0x1000, radix: 16)), "kind": "la-update",
          "context_key": context(session, of: "jaqueline"), "device_id": "d1",
          "activity_id": .string("A\(activity)"),
        ], as: "jaqueline"
      ).status
    }
    for number in 0..<100 { #expect(try update(number, activity: number) == 200) }
    #expect(try update(100, activity: 100) == 429)
    #expect(try update(101, activity: 99) == 200)
    #expect(try update(101, activity: 99) == 200)
  }
}
