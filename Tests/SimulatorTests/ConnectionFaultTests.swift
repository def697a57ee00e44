import Foundation
import HTTP2
import Testing

@testable import Simulator

@Suite struct ConnectionFaultTests {
  private func subject(priority: Int = 5, phone: String = "mara-1") -> FaultSubject {
    FaultSubject(
      pushType: "liveactivity", event: "update", token: "ab", phone: phone, priority: priority)
  }

  @Test func `every third push that fits is struck`() {
    var plan = FaultPlan([Fault(.goaway, match: Fault.Match(phone: "mara-1"), every: 3)])
    var chance = TokenMint(seed: 1)
    let struck = (1...9).map { _ in plan.strike(subject(), chance: &chance) != nil }
    #expect(struck == [false, false, true, false, false, true, false, false, true])
    #expect(plan.strike(subject(phone: "other"), chance: &chance) == nil)
  }

  @Test func `a phone out of budget loses what has priority 10, the rest passes`() {
    let fault = Fault(.answer, match: Fault.Match(phone: "mara-1", priority: 10), status: 200)
    var plan = FaultPlan([fault])
    var chance = TokenMint(seed: 1)
    #expect(plan.strike(subject(priority: 10), chance: &chance) == fault)
    #expect(plan.strike(subject(priority: 5), chance: &chance) == nil)
  }

  @Test func `a poisoned connection stays so, others are well`() {
    let conduct = ConnectionConduct()
    #expect(conduct.fault(on: 1, struck: nil) == nil)
    let poison = conduct.fault(on: 1, struck: Fault(.poison))
    #expect(poison?.action == .answer)
    #expect(poison?.status == 500)
    #expect(conduct.fault(on: 1, struck: nil) == poison)
    #expect(conduct.fault(on: 2, struck: nil) == nil)
  }

  @Test func `a refusal narrows its connection to one stream until the next 200`() {
    let conduct = ConnectionConduct()
    let answers = [200, 400, 400, 410, 200, 200].map { status in
      settings(conduct.reply(.respond(HTTP2Response(status: status)), status: status, on: 1))
    }
    #expect(answers == ["none", "1", "none", "none", "start", "none"])
  }

  private func settings(_ reply: HTTP2Reply) -> String {
    switch reply {
    case .withStreams(let count?, then: _): String(count)
    case .withStreams(nil, then: _): "start"
    default: "none"
    }
  }

  @Test func `a new connection starts with one stream, as at Apple, unless a fault says otherwise`()
    throws
  {
    let start = { (text: String) in
      FaultPlan(try Fault.list(reading: Data(text.utf8))).streamsAtStart
    }
    #expect(FaultPlan().streamsAtStart == 1)
    #expect(try start(#"[{"action": "drop"}]"#) == 1)
    #expect(try start(#"[{"action": "drop"}, {"action": "start", "streams": 8}]"#) == 8)
    #expect(try start(#"[{"action": "start"}]"#) == nil)
  }

  @Test func `a limit goes out before the answer, which is as ever`() throws {
    let text = #"[{"action": "limit", "streams": 1, "count": 1}, {"action": "limit"}]"#
    var plan = FaultPlan(try Fault.list(reading: Data(text.utf8)))
    var chance = TokenMint(seed: 1)
    let answers = (1...3).map { _ in
      settings(
        APNsService.reply(
          HTTP2Response(status: 200), fault: plan.strike(subject(), chance: &chance)))
    }
    #expect(answers == ["1", "start", "start"])
  }

  @Test func `every action is explained`() {
    for action in Fault.Action.allCases {
      #expect(Fault.guide.contains("  \(action.rawValue) "))
    }
    #expect(Fault.guide.split(separator: "\n").allSatisfy { $0.count <= 100 })
  }

  @Test(arguments: [
    (#"[{"action": "limit", "streams": 0}]"#, "faults[0].streams: 0, want 1 to 1000"),
    (#"[{"action": "poison", "status": 200}]"#, "faults[0].status: 200, want 400 to 599"),
    (#"[{"action": "drop", "every": 0}]"#, "faults[0].every: 0, want 1 or more"),
    (
      #"[{"action": "drop", "match": {"priority": 7}}]"#,
      "faults[0].match.priority: 7, want 1, 5 or 10"
    ),
  ])
  func `a mistake is named`(text: String, problem: String) {
    #expect {
      try Fault.list(reading: Data(text.utf8))
    } throws: { error in
      "\(error)".contains(problem)
    }
  }
}
