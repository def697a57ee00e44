import Foundation
import HTTPServing
import Pipeline
import Pushes
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct FCMRouteTests {
  private static let path = "/api/fcm/register"
  private static let token = "cXy_1:APA91b" + String(repeating: "k", count: 140)
  private static let cook = "app.example.cook"
  private static let shop = "app.example.shop"

  private func world(_ kind: StoreKind = .inMemory, _ packages: String...) throws -> World {
    var settings = APISettings.unhurried
    settings.fcmPackages = packages.isEmpty ? [Self.cook] : packages
    return try World(kind, settings: settings)
  }

  private func body(_ more: [String: JSONValue] = [:], without: String? = nil) -> JSONValue {
    var members: [String: JSONValue] = ["token": .string(Self.token), "device_id": "d1"]
    members.merge(more) { $1 }
    if let without { members[without] = nil }
    return .object(members)
  }

  private func phones(_ world: World, of user: String = "dennis") throws -> [FCMRegistration] {
    try world.store.read { try $0.fcmRegistrations(of: [UserID(user)])[UserID(user)] ?? [] }
  }

  /// What the answer says of its one wrong field.
  private func complaint(_ answer: HTTPResponse) throws -> String {
    guard case .array(let errors)? = try answer.json()["errors"], errors.count == 1,
      case .string(let text)? = errors[0]["detail"]
    else { return "not one error: \(try answer.json())" }
    return text
  }

  @Test(arguments: StoreKind.allCases)
  func `an Android phone is kept, and the builder hears of it`(kind: StoreKind) throws {
    let world = try world(kind)
    let answer = try world.post(Self.path, as: "dennis", body())
    #expect(answer.status == 200)
    #expect(try answer.json() == ["registered": true])
    let phone = try #require(try phones(world).first)
    #expect(phone.token.text == Self.token)
    #expect(phone.deviceID == "d1")
    #expect(phone.packageName == Self.cook)
    #expect(phone.registeredAt == World.start)
    let event = try #require(try world.events().first).message
    #expect(event.type == "token.registered")
    #expect(!String(decoding: event.body, as: UTF8.self).contains(Self.token))
  }

  @Test(arguments: ["POST", "DELETE"])
  func `a token that is missing, of another type, empty, too long or no token is named`(
    method: String
  ) throws {
    let world = try world()
    let bad: [(JSONValue?, String)] = [
      (nil, "token is missing, want a string"), (.null, "token is null, want a string"),
      (7, "token is a number, want a string"), (["x"], "token is an array, want a string"),
      ("", "token is empty, want 1 to 1024 characters"),
      (
        .string(String(repeating: "a", count: 1025)),
        "token has 1025 characters, want at most 1024"
      ),
      ("two words", "token holds a character that no FCM token has, want visible ASCII"),
      ("tökén", "token holds a character that no FCM token has, want visible ASCII"),
    ]
    for (value, words) in bad {
      let said = value.map { body(["token": $0]) } ?? body(without: "token")
      let answer = try world.ask(method, Self.path, as: "dennis", said)
      #expect(answer.status == 422)
      #expect(try answer.pointers() == ["/token"])
      #expect(try complaint(answer) == words)
    }
    #expect(try phones(world).isEmpty)
    #expect(try world.events().isEmpty)
  }

  @Test func `a token is never quoted`() throws {
    let answer = try world().post(
      Self.path, as: "dennis", body(["token": .string(Self.token + " ")]))
    #expect(answer.status == 422)
    #expect(!String(decoding: answer.data, as: UTF8.self).contains(Self.token))
  }

  @Test func `a device id of another type or too long is named`() throws {
    let world = try world()
    let long = try world.post(
      Self.path, as: "dennis", body(["device_id": .string(String(repeating: "d", count: 129))]))
    #expect(long.status == 422)
    #expect(try complaint(long) == "device_id has 129 characters, want at most 128")
    let number = try world.post(Self.path, as: "dennis", body(["device_id": 1]))
    #expect(try complaint(number) == "device_id is a number, want a string")
    #expect(try phones(world).isEmpty)
  }

  @Test func `a package that the server does not know is named, with those that it does`() throws {
    let world = try world(.inMemory, Self.cook, Self.shop)
    let unknown = try world.post(
      Self.path, as: "dennis", body(["package": "app.example.other"]))
    #expect(unknown.status == 422)
    #expect(try unknown.pointers() == ["/package"])
    #expect(
      try complaint(unknown)
        == "package is \"app.example.other\", want one of \"\(Self.cook)\", \"\(Self.shop)\"")
    let number = try world.post(Self.path, as: "dennis", body(["package": 1]))
    #expect(try number.pointers() == ["/package"])
    #expect(try phones(world).isEmpty)
  }

  @Test func `of several apps the package must be said, of one it need not`() throws {
    let two = try world(.inMemory, Self.cook, Self.shop)
    let missing = try two.post(Self.path, as: "dennis", body())
    #expect(missing.status == 422)
    #expect(
      try complaint(missing)
        == "package is missing, want one of \"\(Self.cook)\", \"\(Self.shop)\"")
    let said = try two.post(Self.path, as: "dennis", body(["package": .string(Self.shop)]))
    #expect(said.status == 200)
    #expect(try phones(two).map(\.packageName) == [Self.shop])
    #expect(try world().post(Self.path, as: "dennis", body()).status == 200)
  }

  @Test(arguments: ["POST", "DELETE"])
  func `a field that nobody knows is named, and all problems come at once`(method: String) throws {
    let world = try world()
    let typo = try world.ask(method, Self.path, as: "dennis", body(["Token": "x"]))
    #expect(typo.status == 422)
    #expect(try typo.pointers() == ["/Token"])
    let both = try world.ask(
      method, Self.path, as: "dennis", body(["tokn": "x"], without: "token"))
    #expect(try both.pointers() == ["/token", "/tokn"])
    for text in ["", "[]", "{", "7"] {
      let answer = try world.ask(method, Self.path, as: "dennis", text: text)
      #expect((400..<500).contains(answer.status), "\(text)")
    }
    #expect(try world.ask(method, Self.path, body()).status == 401)
  }

  @Test(arguments: StoreKind.allCases)
  func `a phone moves to whoever registers it, and only they can take it away`(kind: StoreKind)
    throws
  {
    let world = try world(kind)
    _ = try world.post(Self.path, as: "dennis", body())
    _ = try world.post(Self.path, as: "jaqueline", body())
    #expect(try phones(world).isEmpty)
    #expect(try phones(world, of: "jaqueline").count == 1)
    let only: JSONValue = ["token": .string(Self.token)]
    let foreign = try world.ask("DELETE", Self.path, as: "dennis", only)
    #expect(try foreign.json() == ["unregistered": 0])
    // The same JSON as to register may be sent.
    let own = try world.ask("DELETE", Self.path, as: "jaqueline", body())
    #expect(try own.json() == ["unregistered": 1])
    #expect(try phones(world, of: "jaqueline").isEmpty)
  }

  @Test func `a user has at most 100 phones, and may refresh those`() throws {
    let world = try world()
    func register(_ number: Int) throws -> Int {
      let token = JSONValue.string("\(Self.token)\(number)")
      let device = JSONValue.string("d\(number)")
      return try world.post(Self.path, as: "dennis", body(["token": token, "device_id": device]))
        .status
    }
    for number in 0..<100 { #expect(try register(number) == 200) }
    #expect(try register(100) == 429)
    #expect(try register(99) == 200)
  }

  @Test(arguments: ["POST", "DELETE"])
  func `without an app FCM says that it is off`(method: String) throws {
    let answer = try World().ask(method, Self.path, as: "dennis", body())
    #expect(answer.status == 404)
    #expect(try answer.problem() == "fcm-off")
  }
}
