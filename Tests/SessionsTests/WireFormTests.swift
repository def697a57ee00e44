import Foundation
import Sessions
import Testing
import Vocabulary

/// The least that another program must write.
private let least = """
  {"id":"cs_abc","date":"2026-06-18","state":"proposed","rev":7,
   "participants":[{"user_id":"u_dennis","status":"joined","ready":true}],
   "updated_at":"2026-06-18 19:12:03","expires_at":"2026-06-18T21:12:03.123Z"}
  """

private func members(_ text: String) throws -> [String: JSONValue] {
  guard case .object(let members) = try JSONValue(parsing: Data(text.utf8)) else { return [:] }
  return members
}

private func read(_ session: [String: JSONValue]) throws -> Session {
  try JSON.decode(Session.self, from: JSONValue.object(session).encoded)
}

/// What is wrong with `session` within an event's `data`.
private func problem(_ session: [String: JSONValue]) throws -> String {
  struct Event: Decodable {
    struct Data: Decodable { let session: Session }
    let data: Data
  }
  let text = JSONValue.object(["data": .object(["session": .object(session)])]).encoded
  let error = #expect(throws: DecodingError.self) { try JSON.decode(Event.self, from: text) }
  return DecodingProblem(try #require(error)).description
}

private let ways: [[Step]] = [
  [], Way.generating, Way.proposed, Way.finalizing, Way.decided, Way.cancelled,
  Way.generating + [.kitchen(.jobTimedOut(job(3)))], Way.proposed + [.by(dennis, .leave)],
  Way.proposed + [.by(dennis, .confirm(pasta.id)), .by(jaqueline, .pick(curry.id))],
]

@Suite struct WireFormTests {
  @Test func `what is written is the golden file byte for byte`() throws {
    let withDetails = Proposal(
      id: ProposalID("p1"), title: "Kürbissuppe …",
      details: ["minutes": 35, "tags": ["vegan"], "photo": "https://example.org/p1.jpg"])
    let session = try Planning(
      through: Way.generating
        + [
          .kitchen(.proposals(job(3), [withDetails, curry])), .by(dennis, .pick(curry.id)),
          .by(jaqueline, .confirm(withDetails.id)),
        ]
    ).session
    try expectGolden("session.json", JSON.encoded(session) + Data("\n".utf8))
    let started = try Planning(through: Way.generating).session
    try expectGolden("session-generating.json", JSON.encoded(started) + Data("\n".utf8))
  }

  @Test(arguments: ways)
  func `what is written reads back the same`(way: [Step]) throws {
    let session = try Planning(through: way).session
    #expect(try JSON.decode(Session.self, from: JSON.encoded(session)) == session)
  }

  @Test func `all members are written, absent ones as null`() throws {
    let session = try Planning(with: Profile(userID: jaqueline.userID)).session
    let written = try members(String(decoding: JSON.encoded(session), as: UTF8.self))
    #expect(
      Set(written.keys) == [
        "id", "date", "state", "rev", "participants", "proposals", "job", "decided_title",
        "created_at", "updated_at", "expires_at", "end_reason",
      ])
    for key in ["job", "decided_title", "end_reason"] { #expect(written[key] == .null) }
    guard case .array(let participants)? = written["participants"] else {
      Issue.record("no participants")
      return
    }
    #expect(
      participants[1] == [
        "user_id": "u_jaqueline", "name": nil, "tint": nil, "emoji": nil, "status": "invited",
        "ready": false, "pick_proposal_id": nil, "confirmed_proposal_id": nil,
      ])
  }

  @Test func `the least reads with null and empty for the rest`() throws {
    let session = try read(members(least))
    #expect(session.rev == 7)
    #expect(session.proposals.isEmpty)
    #expect(session.job == nil)
    #expect(session.decidedTitle == nil)
    #expect(session.endReason == nil)
    #expect(session.createdAt == session.updatedAt)
    #expect(session.participants[0].name == nil)
    #expect(session.participants[0].pickProposalID == nil)
  }

  @Test func `nulls read as missing, unknown members are ignored`() throws {
    var session = try members(least)
    let plain = try read(session)
    for key in ["proposals", "job", "decided_title", "created_at", "end_reason"] {
      session[key] = .null
    }
    session["mood"] = ["hungry": true]
    #expect(try read(session) == plain)
    session["job"] = ["kind": "proposals"]
    #expect(try read(session) == plain)
    session["job"] = ["job_id": "job_1"]
    #expect(try read(session) == plain)
  }

  @Test(arguments: ["id", "date", "state", "rev", "participants", "updated_at", "expires_at"])
  func `a missing required field is named`(field: String) throws {
    var session = try members(least)
    session[field] = nil
    #expect(try problem(session) == "data.session.\(field) is missing")
  }

  @Test(arguments: ["user_id", "status", "ready"])
  func `a participant's missing field is named`(field: String) throws {
    var participant: [String: JSONValue] = [
      "user_id": "u_dennis", "status": "joined", "ready": true,
    ]
    participant[field] = nil
    var session = try members(least)
    session["participants"] = .array([.object(participant)])
    #expect(try problem(session) == "data.session.participants[0].\(field) is missing")
  }

  @Test(arguments: ["id", "title"])
  func `a proposal's missing field is named`(field: String) throws {
    var proposal: [String: JSONValue] = ["id": "p1", "title": "Suppe"]
    proposal[field] = nil
    var session = try members(least)
    session["proposals"] = .array([["id": "p0", "title": "Curry"], .object(proposal)])
    #expect(try problem(session) == "data.session.proposals[1].\(field) is missing")
  }

  @Test(
    arguments: [
      ("rev", "7", "is a string, want a number"),
      ("rev", .number(1.5), "is wrong: want a whole number of 64 bits"),
      (
        "state", "eaten",
        "is wrong: \"eaten\" is none of answering, generating, proposed, finalizing, decided, "
          + "cancelled"
      ),
      ("date", "tomorrow", "is wrong: \"tomorrow\" is not a day as YYYY-MM-DD"),
      ("updated_at", "soon", "is wrong: \"soon\" is not an RFC 3339 time"),
      ("end_reason", "hunger", "is wrong: \"hunger\" is none of decided, cancelled, left, ttl"),
      ("participants", [:], "is an object, want an array"),
    ] as [(String, JSONValue, String)])
  func `a wrong field is named`(field: String, value: JSONValue, complaint: String) throws {
    var session = try members(least)
    session[field] = value
    #expect(try problem(session) == "data.session.\(field) \(complaint)")
  }

  @Test func `proposal details pass through as they came`() throws {
    let text = #"{"a":[1,{"b":null}],"id":"p1","title":"Suppe","url":"https://example.org/1"}"#
    let proposal = try JSON.decode(Proposal.self, from: Data(text.utf8))
    #expect(proposal.details == ["a": [1, ["b": nil]], "url": "https://example.org/1"])
    #expect(String(decoding: JSON.encoded(proposal), as: UTF8.self) == text)
  }

  @Test func `details never stand in for id and title`() {
    let proposal = Proposal(
      id: ProposalID("p1"), title: "Suppe", details: ["id": "p2", "title": "Curry", "x": 1])
    #expect(proposal.details == ["x": 1])
  }
}
