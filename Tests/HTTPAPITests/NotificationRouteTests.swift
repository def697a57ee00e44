import Foundation
import HTTPServing
import Pipeline
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct NotificationRouteTests {
  private static let path = "/api/notifications"

  /// Inserts notifications `n00`, `n01`, … one second apart, each two with the same moment.
  private func fill(_ world: World, _ count: Int, of user: String = "dennis") throws {
    try world.store.write { rows in
      for number in 0..<count {
        let moment = World.start + .seconds(number / 2)
        let id = "n\(number < 10 ? "0" : "")\(number)"
        _ = try rows.insert(
          Pipeline.Notification(
            id: "\(id)-\(user)", userID: UserID(user), type: "cooksuggest.invite", title: "Plan",
            body: "Tippe", icon: "✨", link: "/cook-suggest/cs_\(number)",
            dedupeKey: "cs-invite-cs_\(number)", createdAt: moment, updatedAt: moment))
      }
    }
  }

  private func list(_ world: World, _ query: String = "", headers: [String: String] = [:]) throws
    -> HTTPResponse
  {
    try world.get(Self.path + query, as: "dennis", headers: headers)
  }

  private func ids(_ answer: HTTPResponse) throws -> [String] {
    guard case .array(let rows)? = try answer.json()["notifications"] else { return [] }
    return rows.compactMap { row in
      guard case .string(let id)? = row["id"] else { return nil }
      return String(id.prefix(3))
    }
  }

  @Test func `an empty inbox is an empty page`() throws {
    let answer = try list(World())
    #expect(answer.status == 200)
    #expect(try answer.json() == ["notifications": [], "next": nil])
  }

  @Test func `a notification has exactly the named members`() throws {
    let world = try World()
    try fill(world, 1)
    guard case .array(let rows)? = try list(world).json()["notifications"] else {
      Issue.record("no array")
      return
    }
    #expect(
      rows == [
        [
          "id": "n00-dennis", "type": "cooksuggest.invite", "title": "Plan", "body": "Tippe",
          "icon": "✨", "link": "/cook-suggest/cs_0", "dedupe_key": "cs-invite-cs_0",
          "resolved": 0, "resolved_reason": nil, "created_at": "2026-06-18T19:12:03.000Z",
          "seen_at": nil, "read_at": nil,
        ]
      ])
  }

  @Test(arguments: StoreKind.allCases)
  func `pages lie end to end, newest first`(kind: StoreKind) throws {
    let world = try World(kind)
    try fill(world, 11)
    try fill(world, 5, of: "jaqueline")
    var seen: [String] = []
    var query = "?limit=3"
    for _ in 0..<4 {
      let answer = try list(world, query)
      seen += try ids(answer)
      guard case .string(let next)? = try answer.json()["next"] else { break }
      query = "?limit=3&after=\(next)"
    }
    #expect(seen == (0...10).reversed().map { "n\($0 < 10 ? "0" : "")\($0)" })
    #expect(try list(world, "?limit=11").json()["next"] == .some(.null))
  }

  @Test(arguments: [
    ("limit=1", 200), ("limit=100", 200), ("limit=0", 400), ("limit=101", 400),
    ("limit=ten", 400), ("after=!", 400), ("after=bm9wZQ", 400), ("after=", 400),
    ("updated_since=yesterday", 400), ("updated_since=2026-06-18T19:12:03%2B02:00", 200),
  ])
  func `a malformed query is a 400 that names the parameter`(query: String, status: Int) throws {
    let answer = try list(World(), "?\(query)")
    #expect(answer.status == status)
    if status == 400 {
      #expect(try answer.detail().hasPrefix("\(query.prefix { $0 != "=" }) is "))
    }
  }

  @Test func `without a limit a page has 50`() throws {
    let world = try World()
    try fill(world, 51)
    #expect(try ids(list(world)).count == 50)
  }

  @Test(arguments: StoreKind.allCases)
  func `updated_since lists what changed since, seen and read included`(kind: StoreKind) throws {
    let world = try World(kind)
    try fill(world, 4)
    world.time.advance(.seconds(3600))
    _ = try world.post("\(Self.path)/n01-dennis/seen", as: "dennis")
    let since = (World.start + .seconds(3600)).rfc3339
    #expect(try ids(list(world, "?updated_since=\(since)")) == ["n01"])
  }

  @Test(arguments: StoreKind.allCases)
  func `the etag changes with the page`(kind: StoreKind) throws {
    let world = try World(kind)
    try fill(world, 2)
    let tag = try #require(try list(world).header("etag"))
    let known = try list(world, headers: ["if-none-match": tag])
    #expect(known.status == 304)
    #expect(known.header("etag") == tag)
    _ = try world.post("\(Self.path)/n01-dennis/read", as: "dennis")
    #expect(try list(world, headers: ["if-none-match": tag]).status == 200)
  }

  @Test(arguments: StoreKind.allCases)
  func `seen and read are set once, the first time wins`(kind: StoreKind) throws {
    let world = try World(kind)
    try fill(world, 1)
    let first = try world.post("\(Self.path)/n00-dennis/seen", as: "dennis")
    #expect(first.status == 200)
    world.time.advance(.seconds(60))
    let second = try world.post("\(Self.path)/n00-dennis/seen", as: "dennis", [:]).json()
    #expect(try second == first.json())
    #expect(second["seen_at"] == "2026-06-18T19:12:03.000Z")
    let read = try world.post("\(Self.path)/n00-dennis/read", as: "dennis").json()
    #expect(read["read_at"] == "2026-06-18T19:13:03.000Z")
    #expect(read["seen_at"] == "2026-06-18T19:12:03.000Z")
  }

  @Test func `somebody else's notification is a 404`() throws {
    let world = try World()
    try fill(world, 1, of: "jaqueline")
    for name in ["n00-jaqueline", "none"] {
      #expect(try world.post("\(Self.path)/\(name)/seen", as: "dennis").status == 404)
      #expect(try world.post("\(Self.path)/\(name)/read", as: "dennis").status == 404)
    }
    #expect(try world.post("\(Self.path)/n00-jaqueline/read", as: "jaqueline").status == 200)
  }
}
