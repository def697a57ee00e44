import Foundation
import HTTPServing
import Pipeline
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct SessionRouteTests {
  @Test(arguments: StoreKind.allCases)
  func `a session is created with both profiles and one event`(kind: StoreKind) throws {
    let world = try World(kind)
    _ = try world.ask("PUT", "/api/me", as: "dennis", ["name": "Dennis", "tint": "teal"])
    _ = try world.ask("PUT", "/api/me", as: "jaqueline", ["name": "Jaqueline", "emoji": "🐠"])
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    let answer = try world.post(
      World.sessions, as: "dennis", ["date": "2026-06-18", "with_user_id": "jaqueline"],
      headers: ["traceparent": traceparent])
    #expect(answer.status == 201)
    #expect(answer.header("etag") == #""1""#)
    #expect(answer.header("content-type") == "application/json")
    let session = try answer.json()
    guard case .string(let id)? = session["id"] else {
      Issue.record("no id")
      return
    }
    #expect(answer.header("location") == "/api/cook-suggest/sessions/\(id)")
    #expect(id.hasPrefix("cs_") && id.utf8.count == 25)
    #expect(session["state"] == "answering")
    #expect(session["rev"] == 1)
    #expect(session["status_label"] == "Jaqueline ist eingeladen")
    #expect(session["deep_link_step"] == "answers")
    #expect(session["partner_ready"] == false)
    #expect(session["proposal_count"] == 0)
    #expect(session["partner_pick_title"] == .some(.null))
    #expect(session["ended"] == .some(.null))
    let events = try world.events()
    #expect(events.map(\.message.type) == ["cooksuggest.session.created"])
    #expect(events.first?.message.text("traceparent") == traceparent)
    #expect(world.commitCount == 1)
  }

  @Test func `the answer has exactly the pinned members`() throws {
    let world = try World()
    guard case .object(let members) = try world.get(world.begin(), as: "dennis").json() else {
      Issue.record("no object")
      return
    }
    #expect(
      members.keys.sorted() == [
        "created_at", "date", "decided_title", "deep_link_step", "end_reason", "ended",
        "expires_at", "id", "job", "participants", "partner_pick_title", "partner_ready",
        "proposal_count", "proposals", "rev", "state", "status_label", "updated_at",
      ])
  }

  @Test(
    arguments: [
      ([:], ["/date"]), (["date": 7], ["/date"]), (["date": "18.06.2026"], ["/date"]),
      (["date": "2026-02-30"], ["/date"]),
      (["date": "2026-06-18", "with_user_id": "dennis"], ["/with_user_id"]),
      (["date": "2026-06-18", "with_user_id": ""], ["/with_user_id"]),
      (["date": "2026-06-18", "with_user_id": 7], ["/with_user_id"]),
      (["date": "2026-06-18", "withUserId": "jaqueline"], ["/withUserId"]),
      (["date": .null, "x": 1, "with_user_id": []], ["/date", "/with_user_id", "/x"]),
    ] as [(JSONValue, [String])])
  func `a wrong field of a new session is named`(body: JSONValue, pointers: [String]) throws {
    let world = try World()
    let answer = try world.post(World.sessions, as: "dennis", body)
    #expect(answer.status == 422)
    #expect(answer.header("content-type") == "application/problem+json")
    #expect(try answer.pointers() == pointers)
    #expect(try world.events().isEmpty)
  }

  @Test(
    arguments: [
      (nil, nil, 400), ("", nil, 400), ("{", nil, 400), ("[]", nil, 400), ("null", nil, 400),
      (#"{"date":"2026-06-18","date":"2026-06-19"}"#, nil, 400),
      (#"{"date":"2026-06-18"}"#, "text/plain", 415),
      (#"{"date":"2026-06-18"}"#, "application/json; charset=utf-8", 201),
    ] as [(String?, String?, Int)])
  func `a body that cannot be read is refused`(
    text: String?, contentType: String?, status: Int
  ) throws {
    let answer = try World().ask(
      "POST", World.sessions, as: "dennis", text: text,
      headers: contentType.map { ["content-type": $0] } ?? [:])
    #expect(answer.status == status)
  }

  @Test(arguments: StoreKind.allCases)
  func `the 101st live session is a 429, and one that ended makes room`(kind: StoreKind) throws {
    let world = try World(kind)
    var paths: [String] = []
    for _ in 0..<100 { paths.append(try world.begin(with: nil)) }
    let refused = try world.post(World.sessions, as: "dennis", ["date": "2026-06-18"])
    #expect(refused.status == 429)
    #expect(try refused.problem() == "too-many-sessions")
    _ = try world.post("\(paths[0])/cancel", as: "dennis")
    #expect(try world.post(World.sessions, as: "dennis", ["date": "2026-06-18"]).status == 201)
    #expect(try world.post(World.sessions, as: "dennis", ["date": "2026-06-18"]).status == 429)
  }

  @Test func `the view follows the caller's language`() throws {
    let world = try World()
    let path = try world.begin()
    _ = try world.ask("PUT", "/api/me", as: "dennis", ["name": "Dennis", "locale": "en-GB"])
    #expect(try world.get(path, as: "dennis").json()["status_label"] == "Your partner is invited")
    #expect(
      try world.get(path, as: "jaqueline").json()["status_label"] == "Dein Partner füllt aus")
  }

  @Test func `the etag is the rev, and who has it gets a 304`() throws {
    let world = try World()
    let path = try world.begin()
    let known = try world.get(path, as: "dennis", headers: ["if-none-match": #""1""#])
    #expect(known.status == 304)
    #expect(known.header("etag") == #""1""#)
    #expect(known.data.isEmpty)
    _ = try world.post("\(path)/join", as: "jaqueline")
    let fresh = try world.get(path, as: "dennis", headers: ["if-none-match": #""1""#])
    #expect(fresh.status == 200)
    #expect(fresh.header("etag") == #""2""#)
  }
}
