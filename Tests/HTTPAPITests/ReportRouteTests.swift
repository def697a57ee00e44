import Foundation
import HTTPServing
import Pipeline
import ServiceRuntime
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct ReportRouteTests {
  private static let path = "/api/live-activities/report"

  private func context(_ session: String, of user: String) -> String {
    "cooksuggest:\(session.split(separator: "/").last ?? ""):\(user)"
  }

  private func saveState(_ world: World, _ key: String, rev: Int) throws {
    try world.store.write { rows in
      try rows.save([
        ActivityState(
          contextKey: ContextKey(key), sessionID: SessionID("cs_1"), userID: UserID("dennis"),
          rev: rev, event: .update, contentState: Data("{}".utf8),
          attributesType: "CookSuggestActivityAttributes", attributes: nil, alertTitle: nil,
          alertBody: nil, staleAt: nil, dismissAt: nil, deadline: World.start,
          causedAt: World.start, traceparent: nil)
      ])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a report is kept, and how far the phone lay behind is counted`(kind: StoreKind) throws {
    let world = try World(kind)
    let key = try context(world.begin(), of: "dennis")
    try saveState(world, key, rev: 5)
    let answer = try world.post(
      Self.path, as: "dennis", ["context_key": .string(key), "state": "dismissed", "rev": 3])
    #expect(answer.status == 200)
    #expect(try answer.json() == ["reported": true])
    let dismissed = try world.store.read { try $0.dismissed(among: [ContextKey(key)]) }
    #expect(dismissed == [ContextKey(key)])
    #expect(world.metrics.text().contains("lockstep_phone_lag_revs_sum 2"))
  }

  @Test(arguments: StoreKind.allCases)
  func `an activity is also known by the id its token came with`(kind: StoreKind) throws {
    let world = try World(kind)
    let key = try context(world.begin(), of: "dennis")
    let registration: JSONValue = [
      "token": "abcd", "kind": "la-update", "context_key": .string(key), "activity_id": "A1",
    ]
    _ = try world.post("/api/apns/register", as: "dennis", registration)
    let body: JSONValue = ["activity_id": "A1", "state": "active"]
    #expect(try world.post(Self.path, as: "dennis", body).status == 200)
    #expect(try world.post(Self.path, as: "dennis", body).json() == ["reported": true])
    // Of somebody else, or of a card that no token came for, nothing is known and nothing kept.
    let unknown = try world.post(Self.path, as: "jaqueline", body)
    #expect(unknown.status == 200)
    #expect(try unknown.json() == ["reported": false])
    let kept = try world.store.read { try $0.reports(of: [ContextKey(key)]) }
    #expect(kept.allSatisfy { $0.userID == UserID("dennis") })
  }

  @Test(arguments: StoreKind.allCases)
  func `every report is kept in the history`(kind: StoreKind) throws {
    let world = try World(kind)
    let session = try world.begin()
    let key = context(session, of: "dennis")
    for rev in [1, 2] {
      let body: JSONValue = [
        "context_key": .string(key), "state": "active", "rev": .integer(Int64(rev)),
      ]
      #expect(try world.post(Self.path, as: "dennis", body).status == 200)
    }
    let kept = try world.store.read { try $0.reports(of: [ContextKey(key)]) }
    #expect(kept.map(\.rev) == [1, 2])
  }

  @Test func `an activity that is not one's own is a 404`() throws {
    let world = try World()
    let session = try world.begin()
    for key in [
      context(session, of: "jaqueline"), context(session, of: "mallory"), "x:mallory", "x",
      context("cs_nothere", of: "mallory"),
    ] {
      let body: JSONValue = ["context_key": .string(key), "state": "active"]
      #expect(try world.post(Self.path, as: "mallory", body).status == 404)
    }
  }

  @Test(
    arguments: [
      ([:], ["/state", "/context_key"]), (["state": "gone", "activity_id": "a"], ["/state"]),
      (["state": "active", "activity_id": "a", "rev": -1], ["/rev"]),
      (["state": "active", "activity_id": "a", "rev": "1"], ["/rev"]),
      (["state": "active", "activity_id": "a", "rev": .number(1.5)], ["/rev"]),
      (["state": "active", "activityId": "a"], ["/context_key", "/activityId"]),
    ] as [(JSONValue, [String])])
  func `a wrong field is named`(body: JSONValue, pointers: [String]) throws {
    let answer = try World().post(Self.path, as: "dennis", body)
    #expect(answer.status == 422)
    #expect(try answer.pointers() == pointers)
  }
}

@Suite struct ProfileRouteTests {
  @Test(arguments: StoreKind.allCases)
  func `a profile is replaced as a whole`(kind: StoreKind) throws {
    let world = try World(kind)
    let full: JSONValue = ["name": "Dennis", "tint": "teal", "emoji": "🐻", "locale": "en_GB"]
    let first = try world.ask("PUT", "/api/me", as: "dennis", full)
    #expect(first.status == 200)
    #expect(
      try first.json() == [
        "user_id": "dennis", "name": "Dennis", "tint": "teal", "emoji": "🐻", "locale": "en_GB",
      ])
    let second = try world.ask("PUT", "/api/me", as: "dennis", ["name": "D"])
    #expect(
      try second.json() == [
        "user_id": "dennis", "name": "D", "tint": nil, "emoji": nil, "locale": nil,
      ])
  }

  @Test(
    arguments: [
      ([:], ["/name"]), (["name": ""], ["/name"]), (["name": 1, "tint": 2], ["/name", "/tint"]),
      (["name": "D", "locale": "deutsch-länger"], ["/locale"]),
      (["name": "D", "age": 7], ["/age"]),
      (["name": "D", "locale": "de--DE"], ["/locale"]),
      (["name": "D", "locale": "d"], ["/locale"]),
    ] as [(JSONValue, [String])])
  func `a wrong field is named`(body: JSONValue, pointers: [String]) throws {
    let answer = try World().ask("PUT", "/api/me", as: "dennis", body)
    #expect(answer.status == 422)
    #expect(try answer.pointers() == pointers)
  }
}
