import Foundation
import HTTPServing
import Pipeline
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct ActingOnSessionsTests {
  @Test(arguments: StoreKind.allCases)
  func `a whole session goes from invitation to dish`(kind: StoreKind) throws {
    let world = try World(kind)
    let path = try world.begin()
    #expect(try world.post("\(path)/join", as: "jaqueline").status == 200)
    let answers: JSONValue = ["answers": ["hunger": 3]]
    #expect(try world.post("\(path)/answers", as: "jaqueline", answers).status == 200)
    try world.propose(path)
    let picked = try world.post("\(path)/pick", as: "dennis", ["proposal_id": "p2"])
    #expect(try picked.json()["rev"] == 7)
    let seen = try world.get(path, as: "jaqueline").json()
    #expect(seen["status_label"] == "Vorschlag: Curry?")
    #expect(seen["partner_pick_title"] == "Curry")
    #expect(seen["deep_link_step"] == "confirm")
    #expect(try world.get(path, as: "dennis").json()["partner_pick_title"] == .some(.null))
    _ = try world.post("\(path)/confirm", as: "jaqueline", ["proposal_id": "p2"])
    let agreed = try world.post("\(path)/confirm", as: "dennis", ["proposal_id": "p2"]).json()
    #expect(agreed["state"] == "finalizing")
    let job = try #require(agreed["job"]?["job_id"])
    _ = try world.asKitchen("\(path)/decision", ["job_id": job, "title": "Curry"])
    let decided = try world.get(path, as: "dennis").json()
    #expect(decided["state"] == "decided")
    #expect(decided["decided_title"] == "Curry")
    #expect(decided["end_reason"] == "decided")
    #expect(decided["ended"] == true)
    let names = try world.eventTypes().map { $0.split(separator: ".").last ?? "" }
    #expect(
      names == [
        "created", "joined", "answered", "readied", "generating", "proposed", "picked",
        "confirmed", "finalizing", "decided",
      ])
    #expect(world.commitCount == names.count)
    try expectRecorded(world, path)
  }

  /// One record per event, with who did what.
  private func expectRecorded(_ world: World, _ path: String) throws {
    let id = SessionID(String(path.split(separator: "/").last ?? ""))
    let records = try world.store.read { try $0.mutations(of: id) }
    #expect(records.map(\.rev) == Array(1...10))
    #expect(
      records.map(\.mutation) == [
        "create", "join", "answers", "ready", "ready", "proposals", "pick", "confirm", "confirm",
        "decision",
      ])
    #expect(records.map { $0.userID?.text ?? "-" }.filter { $0 == "-" }.count == 2)
    #expect(records.first?.userID == UserID("dennis"))
    #expect(records[1].userID == UserID("jaqueline"))
    let events = try world.events()
    #expect(records.map(\.eventID.text) == events.map(\.message.id))
    #expect(records.map(\.eventType) == events.map(\.message.type))
  }

  @Test(arguments: StoreKind.allCases)
  func `what is refused or changes nothing leaves no record`(kind: StoreKind) throws {
    let world = try World(kind)
    let path = try world.begin()
    #expect(try world.post("\(path)/join", as: "dennis").status == 200)
    #expect(try world.post("\(path)/pick", as: "dennis", ["proposal_id": "p1"]).status == 409)
    let id = SessionID(String(path.split(separator: "/").last ?? ""))
    #expect(try world.store.read { try $0.mutations(of: id) }.map(\.mutation) == ["create"])
  }

  static let actions: [(String, JSONValue?)] = [
    ("join", nil), ("answers", ["answers": [:]]), ("ready", ["ready": true]),
    ("pick", ["proposal_id": "p1"]), ("confirm", ["proposal_id": "p1"]), ("leave", nil),
    ("cancel", nil),
  ]

  @Test(arguments: StoreKind.allCases)
  func `somebody else's session is a 404 for everything, like one that is not there`(
    kind: StoreKind
  ) throws {
    let world = try World(kind)
    let path = try world.begin()
    for path in [path, "\(World.sessions)/cs_nothere"] {
      for (name, body) in Self.actions {
        let answer = try world.post("\(path)/\(name)", as: "mallory", body)
        #expect(answer.status == 404)
        #expect(
          try answer.detail() == "There is no such session, or you take no part in it.")
      }
      #expect(try world.get(path, as: "mallory").status == 404)
    }
    #expect(try world.eventTypes() == ["cooksuggest.session.created"])
  }

  @Test func `a wrong state is a 409 that shows the session`() throws {
    let world = try World()
    let path = try world.begin()
    for name in ["pick", "confirm"] {
      let answer = try world.post("\(path)/\(name)", as: "dennis", ["proposal_id": "p1"])
      #expect(answer.status == 409)
      #expect(try answer.problem() == "wrong-state")
      #expect(answer.header("etag") == #""1""#)
      let problem = try answer.json()
      #expect(problem["status"] == 409)
      #expect(problem["session"]?["rev"] == 1)
      #expect(problem["session"]?["status_label"] == "Dein Partner ist eingeladen")
    }
    _ = try world.makeReady(path)
    for (name, body) in Self.actions where name == "answers" || name == "ready" {
      let answer = try world.post("\(path)/\(name)", as: "dennis", body)
      #expect(answer.status == 409)
      #expect(try answer.json()["session"]?["state"] == "generating")
    }
  }

  @Test func `nothing can be done to a session that ended`() throws {
    let world = try World()
    let path = try world.begin()
    #expect(try world.post("\(path)/cancel", as: "jaqueline").json()["end_reason"] == "cancelled")
    for (name, body) in Self.actions {
      let answer = try world.post("\(path)/\(name)", as: "dennis", body)
      #expect(answer.status == 409)
      #expect(try answer.problem() == "session-ended")
      #expect(try answer.json()["session"]?["state"] == "cancelled")
    }
  }

  @Test func `who left still reads, but does not act`() throws {
    let world = try World()
    let path = try world.begin()
    let left = try world.post("\(path)/leave", as: "jaqueline")
    #expect(left.status == 200)
    #expect(try left.json()["ended"] == true)
    let seen = try world.get(path, as: "jaqueline")
    #expect(seen.status == 200)
    #expect(try seen.json()["ended"] == true)
    for (name, body) in Self.actions {
      let answer = try world.post("\(path)/\(name)", as: "jaqueline", body)
      #expect(answer.status == 409)
      #expect(try answer.problem() == "left-session")
    }
    #expect(try world.get(path, as: "dennis").json()["status_label"] == "Dein Partner ist raus")
  }

  @Test func `what changes nothing makes no event`() throws {
    let world = try World()
    let path = try world.begin()
    _ = try world.post("\(path)/join", as: "jaqueline")
    let again = try world.post("\(path)/join", as: "jaqueline", [:])
    #expect(again.status == 200)
    #expect(again.header("etag") == #""2""#)
    #expect(try world.events().count == 2)
    #expect(world.commitCount == 2)
  }
}

extension ActingOnSessionsTests {
  @Test(arguments: [
    (#""1""#, 200), ("1", 200), ("*", 200), (#""2""#, 412), ("2", 412), ("one", 400), ("", 400),
  ])
  func `if-match guards a mutation`(field: String, status: Int) throws {
    let world = try World()
    let path = try world.begin()
    let answer = try world.post(
      "\(path)/ready", as: "dennis", ["ready": true], headers: ["if-match": field])
    #expect(answer.status == status)
    #expect(try world.events().count == (status == 200 ? 2 : 1))
    if status == 412 {
      #expect(answer.header("etag") == #""1""#)
      #expect(try answer.json()["session"]?["rev"] == 1)
    }
  }

  @Test(
    arguments: [
      ("join", ["x": 1], ["/x"]), ("leave", ["reason": "tired"], ["/reason"]),
      ("cancel", ["x": 1], ["/x"]), ("ready", [:], ["/ready"]), ("ready", ["ready": 1], ["/ready"]),
      ("ready", ["ready": .null], ["/ready"]), ("pick", [:], ["/proposal_id"]),
      ("pick", ["proposalId": "p1"], ["/proposal_id", "/proposalId"]),
      ("confirm", ["proposal_id": 1], ["/proposal_id"]), ("answers", [:], ["/answers"]),
      ("answers", ["answers": []], ["/answers"]), ("answers", ["answers": "x"], ["/answers"]),
    ] as [(String, JSONValue, [String])])
  func `a wrong field is a 422 that names it`(
    name: String, body: JSONValue, pointers: [String]
  ) throws {
    let world = try World()
    let answer = try world.post("\(world.begin())/\(name)", as: "dennis", body)
    #expect(answer.status == 422)
    #expect(try answer.pointers() == pointers)
  }

  @Test func `a proposal that is none of the session's is a 422`() throws {
    let world = try World()
    let path = try world.begin()
    try world.propose(path)
    let answer = try world.post("\(path)/pick", as: "dennis", ["proposal_id": "p9"])
    #expect(answer.status == 422)
    #expect(try answer.pointers() == ["/proposal_id"])
  }

  @Test(arguments: ["ready", "pick", "confirm", "answers"])
  func `a missing body is a 400`(name: String) throws {
    let world = try World()
    #expect(try world.post("\(world.begin())/\(name)", as: "dennis").status == 400)
  }

  @Test func `answers have at most 8 KiB`() throws {
    let world = try World()
    let path = try world.begin()
    for (bytes, status) in [(8 * 1024, 200), (8 * 1024 + 1, 422)] {
      let filler = String(repeating: "x", count: bytes - #"{"a":""}"#.utf8.count)
      let answer = try world.post(
        "\(path)/answers", as: "dennis", ["answers": ["a": .string(filler)]])
      #expect(answer.status == status)
    }
  }
}
