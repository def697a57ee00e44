import Foundation
import HTTPServing
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct KitchenRouteTests {
  @Test(arguments: StoreKind.allCases)
  func `the kitchen sees any session and its answers as they came`(kind: StoreKind) throws {
    let world = try World(kind)
    let path = try world.begin()
    let given = #"{"budget":1.10,"big":12345678901234567890,"list":[1e2]}"#
    _ = try world.ask("POST", "\(path)/answers", as: "dennis", text: #"{"answers":\#(given)}"#)
    let seen = try world.ask("GET", path, as: "kitchen", scope: "service")
    #expect(seen.status == 200)
    let text = String(decoding: seen.data, as: UTF8.self)
    #expect(text.hasSuffix(#","answers":{"dennis":\#(given)}}"#))
    let session = try seen.json()
    #expect(session["rev"] == 2)
    #expect(session["status_label"] == nil)
    #expect(try world.get(path, as: "dennis").json()["answers"] == nil)
    #expect(
      try world.ask("GET", path, as: "dennis", scope: "user service").json()["status_label"] != nil)
  }

  @Test func `without answers there is an empty object`() throws {
    let world = try World()
    let seen = try world.ask("GET", world.begin(), as: "kitchen", scope: "service")
    #expect(try seen.json()["answers"] == [:])
  }

  @Test func `proposals pass on whatever else the kitchen says of them`() throws {
    let world = try World()
    let path = try world.begin()
    try world.propose(path)
    let session = try world.get(path, as: "jaqueline").json()
    #expect(session["proposals"] == World.proposals)
    #expect(session["proposal_count"] == 2)
    #expect(session["status_label"] == "2 Vorschläge bereit")
  }

  @Test func `a late or repeated answer changes nothing`() throws {
    let world = try World()
    let path = try world.begin()
    let job = try world.makeReady(path)
    let late = try world.asKitchen(
      "\(path)/proposals", ["job_id": "job_other", "proposals": World.proposals])
    #expect(late.status == 200)
    #expect(try late.json()["state"] == "generating")
    let body: JSONValue = ["job_id": job, "proposals": World.proposals]
    #expect(try world.asKitchen("\(path)/proposals", body).json()["state"] == "proposed")
    let again = try world.asKitchen("\(path)/proposals", body)
    #expect(again.status == 200)
    #expect(try again.json()["rev"] == 4)
    #expect(try world.asKitchen("\(path)/decision", ["job_id": job, "title": "x"]).status == 200)
    #expect(try world.events().count == 4)
  }

  @Test(
    arguments: [
      ([:], ["/job_id", "/proposals"]),
      (["job_id": 1, "proposals": [:]], ["/job_id", "/proposals"]),
      (["job_id": "j", "proposals": [7]], ["/proposals/0"]),
      (
        ["job_id": "j", "proposals": [["id": "a", "title": "A"], ["title": 7]]],
        ["/proposals/1/id", "/proposals/1/title"]
      ),
      (["job_id": "j", "proposals": [], "more": 1], ["/more"]),
    ] as [(JSONValue, [String])])
  func `a wrong field of the proposals is named`(body: JSONValue, pointers: [String]) throws {
    let world = try World()
    let answer = try world.asKitchen("\(world.begin())/proposals", body)
    #expect(answer.status == 422)
    #expect(try answer.pointers() == pointers)
  }

  @Test(
    arguments: [
      ([], "/proposals"),
      ([["id": "a", "title": "A"], ["id": "a", "title": "B"]], "/proposals/1/id"),
      ([["id": "a", "title": "   "]], "/proposals/0/title"),
    ] as [(JSONValue, String)])
  func `proposals that cannot be told apart are refused`(
    proposals: JSONValue, pointer: String
  ) throws {
    let world = try World()
    let path = try world.begin()
    let job = try world.makeReady(path)
    let answer = try world.asKitchen(
      "\(path)/proposals", ["job_id": job, "proposals": proposals])
    #expect(answer.status == 422)
    #expect(try answer.pointers() == [pointer])
  }

  @Test(arguments: [(200, 200), (201, 422)])
  func `a title has at most 200 characters`(length: Int, status: Int) throws {
    let world = try World()
    let path = try world.begin()
    let job = try world.makeReady(path)
    let title = JSONValue.string(String(repeating: "ä", count: length))
    let answer = try world.asKitchen(
      "\(path)/proposals", ["job_id": job, "proposals": [["id": "a", "title": title]]])
    #expect(answer.status == status)
    if status == 422 { #expect(try answer.pointers() == ["/proposals/0/title"]) }
    let decision = try world.asKitchen("\(path)/decision", ["job_id": "j", "title": title])
    #expect(decision.status == status)
  }

  @Test(arguments: [50, 51])
  func `one job delivers at most 50 proposals`(count: Int) throws {
    let world = try World()
    let path = try world.begin()
    let job = try world.makeReady(path)
    let proposals = (0..<count).map { ["id": .string("p\($0)"), "title": "Dish"] as JSONValue }
    let answer = try world.asKitchen(
      "\(path)/proposals", ["job_id": job, "proposals": .array(proposals)])
    #expect(answer.status == (count <= 50 ? 200 : 422))
  }

  @Test func `an unknown session is a 404`() throws {
    let path = "\(World.sessions)/cs_nothere"
    let world = try World()
    #expect(try world.asKitchen("\(path)/decision", ["job_id": "j", "title": "x"]).status == 404)
    #expect(try world.ask("GET", path, as: "kitchen", scope: "service").status == 404)
  }
}
