import Foundation
import HTTPClient
import Testing
import Vocabulary

@testable import Simulator

/// What a load test asks of the control API.
@Suite struct LoadTestRoutesTests {
  private static let state: JSONValue = [
    "state": "answering", "statusLabel": "…", "deepLinkStep": nil, "proposalCount": 0,
    "partnerPickTitle": nil, "partnerReady": false, "decidedTitle": nil,
    "updatedAt": "2026-06-18 12:00:00", "rev": 3, "ended": nil,
  ]

  @Test func `an app may bring the state of a session that the API does not know`() throws {
    let running = try RunningSimulator()
    let phone = try running.addPhone("mara")
    let (status, _) = try running.call(
      "POST", "/phones/\(phone.id)/start-local",
      [
        "attributes": [
          "sessionId": "cs_lt1", "date": "2026-06-18", "partnerName": "Dennis",
          "partnerTint": nil, "partnerEmoji": nil,
        ],
        "content_state": Self.state, "stale_at": "2030-01-01T00:00:00Z",
      ])
    #expect(status == 200)
    let (_, cards) = try running.call("GET", "/cards?from=0&limit=10")
    #expect(
      cards == [
        "phones": 1,
        "cards": [
          ["phone": .string(phone.id), "session": "cs_lt1", "rev": 3, "standing": "active"]
        ],
      ])
    #expect(try running.call("GET", "/cards?from=1&limit=10").1["phones"] == 0)
    let (_, tally) = try running.call("GET", "/tally")
    #expect(tally["phones"] == 1 && tally["newest_push"] == 0 && tally["complaint_count"] == 0)
  }

  @Test func `a phone registers the kinds of token that it is told to`() throws {
    let running = try RunningSimulator()
    for (user, kinds) in [("mara", ["alert"]), ("tim", []), ("ida", nil)] as [(String, [String]?)] {
      var order: [String: JSONValue] = [
        "user_id": .string(user), "token": .string("jwt-\(user)"),
      ]
      if let kinds { order["kinds"] = .array(kinds.map { .string($0) }) }
      #expect(try running.call("POST", "/phones", .object(order)).0 == 201)
    }
    let calls = running.api.calls.filter { $0.path == "/api/apns/register" }
    #expect(
      calls.map { [$0.caller, "\($0.body["kind"] ?? .null)"] } == [
        ["Bearer jwt-mara", "\(JSONValue.string("alert"))"],
        ["Bearer jwt-ida", "\(JSONValue.string("alert"))"],
        ["Bearer jwt-ida", "\(JSONValue.string("la-pushToStart"))"],
      ])
  }

  @Test func `phones of the users of one run are taken away, and never all by an oversight`() throws
  {
    let running = try RunningSimulator()
    for user in ["lt-a-mara", "lt-b-mara", "mara"] { _ = try running.addPhone(user) }
    for path in ["/phones", "/phones?user_prefix="] {
      let (status, problem) = try running.call("DELETE", path)
      #expect(status == 422, "\(path): \(problem)")
    }
    #expect(try running.call("DELETE", "/phones?user_prefix=lt-a-").1 == ["removed": 1])
    #expect(try running.call("DELETE", "/phones?user_prefix=lt-a-").1 == ["removed": 0])
    #expect(try running.call("GET", "/tally").1["phones"] == 2)
  }

  @Test func `who reads on from a number gets every push once, and whose card it was for`() throws {
    let running = try RunningSimulator()
    let phone = try running.addPhone("mara")
    for rev in 1...3 {
      let answer = try running.push(
        Making.start(session: "cs_\(rev)", rev: rev, at: Making.now), to: phone.pushToStartToken)
      #expect(answer.status == 200)
    }
    func read(after number: Int, limit: Int) throws -> [JSONValue] {
      guard
        case .array(let pushes) = try running.call(
          "GET", "/pushes?after=\(number)&limit=\(limit)"
        ).1
      else { return [] }
      return pushes
    }
    #expect(try read(after: 0, limit: 2).map { $0["session"] } == ["cs_1", "cs_2"])
    #expect(try read(after: 2, limit: 2).map { $0["number"] } == [3])
    #expect(try read(after: 3, limit: 2).isEmpty)
  }
}
