import Activities
import Foundation
import HTTPServing
import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

@testable import HTTPAPI

/// A Shiny app learns a card's id and token, and not which activity it belongs to.
@Suite struct BindingRouteTests {
  private static let user = UserID("dennis")

  /// A start of this activity was sent to Dennis' phone.
  private func start(
    _ key: String, device: String = "phone", in world: World, at moment: UnixTime = World.start
  ) throws {
    let answer = try world.asService("PUT", "/api/activities/\(key)", World.shiny())
    try #require(answer.status == 201)
    try world.store.write { rows in
      let activity = try #require(try rows.activity(ActivityKey(key)))
      try rows.save(
        RecipientStates.states(
          of: activity, by: .builtIn, causedAt: moment, deadline: nil, traceparent: nil))
      try rows.save(
        Start(
          sessionID: activity.sessionID, token: Samples.token(1),
          contextKey: activity.contextKey(of: Self.user), firstAskedAt: moment, userID: Self.user,
          deviceID: device, cardsMax: 1, acceptedAt: moment))
    }
  }

  private func register(
    _ token: Int, activity: String, device: String = "phone", in world: World,
    _ more: [String: JSONValue] = [:]
  ) throws {
    let body: [String: JSONValue] = [
      "token": .string(Samples.token(token).hex), "kind": "LiveActivityUpdate",
      "attributes_type": "ShinyActivityAttributes", "device_id": .string(device),
      "activity_id": .string(activity),
    ]
    let answer = try world.post(
      "/api/apns/register", as: "dennis", .object(body.merging(more) { $1 }))
    try #require(answer.status == 200, "\(String(decoding: answer.data, as: UTF8.self))")
  }

  private func bound(_ token: Int, in world: World) throws -> String? {
    try world.store.read {
      try $0.registrations(of: [Samples.token(token)])[Samples.token(token)]?.first?.contextKey?
        .text
    }
  }

  private func unbound(in world: World) throws -> [JSONValue] {
    let answer = try world.get("/api/apns/unbound", as: "dennis").json()
    guard case .array(let tokens)? = answer["tokens"] else { return [] }
    return tokens
  }

  @Test(arguments: StoreKind.allCases)
  func `an update token is bound to the start that no token came for`(kind: StoreKind) throws {
    let world = try World(kind)
    try start("a", in: world)
    try register(10, activity: "A1", in: world)
    #expect(try bound(10, in: world) == "activity:a:dennis")
    // A second activity beside it on the same device, and a rotated token of the first.
    try start("b", in: world)
    try register(11, activity: "A2", in: world)
    #expect(try bound(11, in: world) == "activity:b:dennis")
    try register(12, activity: "A1", in: world)
    #expect(try bound(12, in: world) == "activity:a:dennis")
    #expect(try bound(10, in: world) == nil)
    // Registered again it stays where it is.
    try register(11, activity: "A2", in: world)
    #expect(try bound(11, in: world) == "activity:b:dennis")
    #expect(try unbound(in: world).isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `where several starts are open it is kept, listed, and bound by a call`(kind: StoreKind)
    throws
  {
    let world = try World(kind)
    try start("a", in: world)
    try start("b", in: world, at: World.start + .seconds(1))
    try register(10, activity: "A1", in: world)
    #expect(try bound(10, in: world) == nil)
    let listed = try #require(try unbound(in: world).first)
    #expect(listed["candidates"] == ["activity:a:dennis", "activity:b:dennis"])
    #expect(listed["activity_id"] == "A1")
    // What it says meanwhile is heard, and kept for no card.
    let report = try world.post(
      "/api/live-activities/report", as: "dennis", ["activity_id": "A1", "state": "Active"])
    #expect(try report.json() == ["reported": false])
    let foreign = try world.post(
      "/api/apns/bind", as: "mallory",
      ["activity_id": "A1", "context_key": "activity:b:mallory"])
    #expect(foreign.status == 422)
    let answer = try world.asService(
      "POST", "/api/apns/bind",
      ["user_id": "dennis", "activity_id": "A1", "context_key": "activity:b:dennis"])
    #expect(answer.status == 200)
    #expect(try bound(10, in: world) == "activity:b:dennis")
    #expect(try world.eventTypes().last == "token.registered")
    // The other start is the only one left.
    try register(11, activity: "A2", in: world)
    #expect(try bound(11, in: world) == "activity:a:dennis")
  }

  @Test func `a start on another phone is nobody's business here`() throws {
    let world = try World()
    try start("a", device: "tablet", in: world)
    try register(10, activity: "A1", in: world)
    #expect(try bound(10, in: world) == nil)
    try register(11, activity: "A2", device: "tablet", in: world)
    #expect(try bound(11, in: world) == "activity:a:dennis")
  }

  @Test func `a card that is long over takes no token`() throws {
    let world = try World()
    try start("a", in: world, at: World.start - .seconds(13 * 3600))
    try start("b", in: world)
    try register(10, activity: "A1", in: world)
    #expect(try bound(10, in: world) == "activity:b:dennis")
  }

  /// Its answer was lost, so that it went out twice: both cards are of one activity, and the second
  /// card's token must not take another's start.
  @Test func `a start that may have made two cards waits for two tokens`() throws {
    let world = try World()
    try start("a", in: world)
    try world.store.write {
      try $0.claimStart(
        of: Activity.sessionID(of: ActivityKey("a")), token: Samples.token(1), until: World.start)
    }
    try register(10, activity: "A1", in: world)
    #expect(try bound(10, in: world) == "activity:a:dennis")
    try start("b", in: world)
    try register(11, activity: "A2", in: world)
    #expect(try bound(11, in: world) == nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `two cards of one activity on one phone keep a token each`(kind: StoreKind) throws {
    let world = try World(kind)
    try start("a", in: world)
    try start("b", in: world)
    try register(10, activity: "A1", in: world)
    try register(11, activity: "A2", in: world)
    for activity: JSONValue in ["A1", "A2"] {
      let answer = try world.post(
        "/api/apns/bind", as: "dennis",
        ["activity_id": activity, "context_key": "activity:a:dennis"])
      #expect(answer.status == 200)
    }
    #expect(try bound(10, in: world) == "activity:a:dennis")
    #expect(try bound(11, in: world) == "activity:a:dennis")
    // iOS gives one of them another token; the app cannot tell of what it is the card.
    try register(12, activity: "A1", in: world)
    #expect(try bound(10, in: world) == nil)
    #expect(try bound(11, in: world) == "activity:a:dennis")
    #expect(try bound(12, in: world) == "activity:a:dennis")
  }

  @Test func `a card with 100 tokens is bound to no more`() throws {
    let world = try World()
    try #require(try world.asService("PUT", "/api/activities/a", World.shiny()).status == 201)
    try register(10, activity: "A", in: world)
    for number in 100..<200 {
      try register(
        number, activity: "A\(number)", in: world, ["context_key": "activity:a:dennis"])
    }
    let answer = try world.post(
      "/api/apns/bind", as: "dennis", ["activity_id": "A", "context_key": "activity:a:dennis"])
    #expect(answer.status == 429)
    #expect(try bound(10, in: world) == nil)
  }

  /// The other phone of the same user may still show it.
  @Test func `a card that was swiped away elsewhere still waits for its token`() throws {
    let world = try World()
    try start("a", in: world)
    try start("b", in: world)
    let report = PhoneReport(
      contextKey: ContextKey("activity:a:dennis"), userID: Self.user, state: .dismissed, rev: nil,
      reportedAt: World.start)
    try world.store.write { try $0.save(report) }
    try register(10, activity: "A1", in: world)
    #expect(try bound(10, in: world) == nil)
  }
}
