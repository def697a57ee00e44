import Cryptography
import Foundation
import HTTPServing
import Pipeline
import Pushes
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct WebPushRouteTests {
  private static let path = "/api/webpush/subscriptions"
  private static let publicKey = Base64URL.encode(SigningKey.generate().publicKey)
  private static let endpoint = "https://fcm.googleapis.com/fcm/send/abc"

  private func world(_ kind: StoreKind = .inMemory, allow: PushServices = .browsers) throws -> World
  {
    var settings = APISettings.unhurried
    settings.webPush = WebPushOffer(publicKey: Self.publicKey, services: allow)
    return try World(kind, settings: settings)
  }

  private static let goodKeys: [String: JSONValue] = [
    "p256dh": .string(Base64URL.encode(AgreementKey.generate().publicKey)),
    "auth": .string(Base64URL.encode(RandomBytes.make(16))),
  ]

  private func body(
    _ endpoint: String = endpoint, keys: [String: JSONValue] = goodKeys,
    more: [String: JSONValue] = [:]
  ) -> JSONValue {
    let all: [String: JSONValue] = [
      "endpoint": .string(endpoint), "expirationTime": .null, "keys": .object(keys),
    ]
    return .object(all.merging(more) { $1 })
  }

  private func rows(_ world: World, of user: String = "dennis") throws -> [WebPushSubscription] {
    try world.store.read { try $0.subscriptions(of: [UserID(user)])[UserID(user)] ?? [] }
  }

  @Test(arguments: StoreKind.allCases)
  func `what a browser says of its subscription is kept`(kind: StoreKind) throws {
    let world = try world(kind)
    let key = try world.get("/api/webpush/public-key", as: "dennis")
    #expect(try key.json() == ["public_key": .string(Self.publicKey)])
    let answer = try world.post(Self.path, as: "dennis", body())
    #expect(answer.status == 200)
    #expect(try answer.json() == ["registered": true])
    let row = try #require(try rows(world).first)
    #expect(row.endpoint.text == Self.endpoint)
    #expect(.string(Base64URL.encode(row.p256dh)) == Self.goodKeys["p256dh"])
    #expect(.string(Base64URL.encode(row.auth)) == Self.goodKeys["auth"])
    #expect(row.vapidKeyID == Self.publicKey)
    #expect(row.createdAt == World.start)
    #expect(try world.events().isEmpty)
  }

  @Test func `padded keys and a number as expiration time are taken`() throws {
    let world = try world()
    var keys = Self.goodKeys
    for (name, padding) in [("p256dh", "="), ("auth", "==")] {
      guard case .string(let text)? = keys[name] else { continue }
      keys[name] = .string(text + padding)
    }
    let answer = try world.post(
      Self.path, as: "dennis", body(keys: keys, more: ["expirationTime": 1_781_784_000_000]))
    #expect(answer.status == 200)
  }

  @Test(arguments: [
    "http://fcm.googleapis.com/x", "https://fcm.googleapis.com:8443/x",
    "https://user:pass@fcm.googleapis.com/x", "https://10.0.0.1/x", "https://192.168.1.1/x",
    "https://169.254.169.254/x", "https://[fe80::1]/x", "https://[::1]/x", "https://127.0.0.1/x",
    "https://localhost/x", "https://evil.example/x", "https://fcm.googleapis.com#x", "x", "",
    "https://fcm.googleapis.com/" + String(repeating: "a", count: 2048),
  ])
  func `an endpoint that is no push service is refused and named, and nothing is stored`(
    endpoint: String
  ) throws {
    let world = try world()
    let answer = try world.post(Self.path, as: "dennis", body(endpoint))
    #expect(answer.status == 422)
    #expect(try answer.pointers() == ["/endpoint"])
    if endpoint.count > 30 {
      #expect(!String(decoding: answer.data, as: UTF8.self).contains(endpoint))
    }
    #expect(try rows(world).isEmpty)
  }

  @Test func `an entry with a port takes exactly that`() throws {
    let world = try world(allow: PushServices(list: "localhost:9443"))
    #expect(try world.post(Self.path, as: "dennis", body("https://localhost:9443/x")).status == 200)
    #expect(try world.post(Self.path, as: "dennis", body("https://localhost:9444/x")).status == 422)
  }

  private static let badKeys: [([String: JSONValue], [String])] = {
    let point = AgreementKey.generate().publicKey
    var off = point
    off[64] ^= 1
    func keys(_ p256dh: [UInt8], _ auth: Int = 16) -> [String: JSONValue] {
      [
        "p256dh": .string(Base64URL.encode(p256dh)),
        "auth": .string(Base64URL.encode([UInt8](repeating: 1, count: auth))),
      ]
    }
    return [
      (keys(off), ["/keys/p256dh"]), (keys(point + [0]), ["/keys/p256dh"]),
      (keys(Array(point.dropLast())), ["/keys/p256dh"]),
      (keys([4] + [UInt8](repeating: 0, count: 64)), ["/keys/p256dh"]),
      (keys(point, 15), ["/keys/auth"]), (keys(point, 17), ["/keys/auth"]),
      (keys(off, 0), ["/keys/p256dh", "/keys/auth"]),
      (["p256dh": "a+b/", "auth": 7], ["/keys/p256dh", "/keys/auth"]),
      ([:], ["/keys/p256dh", "/keys/auth"]),
      (keys(point).merging(["extra": 1]) { $1 }, ["/keys/extra"]),
    ]
  }()

  @Test func `keys that cannot be are refused and named, and nothing is stored`() throws {
    let world = try world()
    for (keys, pointers) in Self.badKeys {
      let answer = try world.post(Self.path, as: "dennis", body(keys: keys))
      #expect(answer.status == 422)
      #expect(try answer.pointers() == pointers)
    }
    for keys: JSONValue in [.null, "x", .array([])] {
      let answer = try world.post(Self.path, as: "dennis", body(more: ["keys": keys]))
      #expect(try answer.pointers() == ["/keys"])
    }
    let typo = try world.post(Self.path, as: "dennis", body(more: ["endPoint": "x"]))
    #expect(try typo.pointers() == ["/endPoint"])
    #expect(try rows(world).isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `a browser moves to whoever registers it, and only they can take it away`(kind: StoreKind)
    throws
  {
    let world = try world(kind)
    _ = try world.post(Self.path, as: "dennis", body())
    _ = try world.post(Self.path, as: "jaqueline", body())
    #expect(try rows(world).isEmpty)
    #expect(try rows(world, of: "jaqueline").count == 1)
    let only: JSONValue = ["endpoint": .string(Self.endpoint)]
    let foreign = try world.ask("DELETE", Self.path, as: "dennis", only)
    #expect(try foreign.json() == ["unregistered": 0])
    let own = try world.ask("DELETE", Self.path, as: "jaqueline", body())
    #expect(try own.json() == ["unregistered": 1])
    #expect(try rows(world, of: "jaqueline").isEmpty)
    #expect(try world.ask("DELETE", Self.path, as: "dennis", ["endpoint": "x"]).status == 422)
  }

  @Test(arguments: StoreKind.allCases)
  func `a browser whose key is refused is told to subscribe anew`(kind: StoreKind) throws {
    let world = try world(kind)
    _ = try world.post(Self.path, as: "dennis", body())
    let row = try #require(try rows(world).first)
    _ = try world.store.write { try $0.markResubscribe(row, at: World.start) }
    let again = try world.post(Self.path, as: "dennis", body())
    #expect(try again.json() == ["registered": true, "resubscribe": true])
    var keys = Self.goodKeys
    keys["p256dh"] = .string(Base64URL.encode(AgreementKey.generate().publicKey))
    let anew = try world.post(Self.path, as: "dennis", body(keys: keys))
    #expect(try anew.json() == ["registered": true])
    #expect(try rows(world).count == 1)
  }

  @Test func `a user has at most 100 browsers, and may refresh those`() throws {
    let world = try world()
    for number in 0..<100 {
      let answer = try world.post(Self.path, as: "dennis", body("\(Self.endpoint)-\(number)"))
      #expect(answer.status == 200)
    }
    #expect(try world.post(Self.path, as: "dennis", body("\(Self.endpoint)-100")).status == 429)
    #expect(try world.post(Self.path, as: "dennis", body("\(Self.endpoint)-99")).status == 200)
  }

  @Test func `without a key Web Push says that it is off`() throws {
    let world = try World()
    for (method, path, body) in [
      ("GET", "/api/webpush/public-key", nil), ("POST", Self.path, body()),
      ("DELETE", Self.path, body()),
    ] as [(String, String, JSONValue?)] {
      let answer = try world.ask(method, path, as: "dennis", body)
      #expect(answer.status == 404)
      #expect(try answer.problem() == "web-push-off")
    }
    #expect(try self.world().ask("GET", "/api/webpush/public-key").status == 401)
  }
}
