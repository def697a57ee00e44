import Foundation
import Simulator
import Testing
import Vocabulary

@Suite struct FaultTests {
  private let start = FaultSubject(
    pushType: "liveactivity", event: "start", token: "ab", phone: "dennis-1")
  private let alert = FaultSubject(pushType: "alert", event: nil, token: "cd", phone: "mara-1")

  private func struck(_ match: Fault.Match?, _ subject: FaultSubject) -> Bool {
    var plan = FaultPlan([Fault(.drop, match: match)])
    var chance = TokenMint(seed: 1)
    return plan.strike(subject, chance: &chance) != nil
  }

  @Test func `everything that is given must fit`() {
    #expect(struck(nil, start))
    #expect(struck(Fault.Match(event: "start"), start))
    #expect(!struck(Fault.Match(event: "start"), alert))
    #expect(struck(Fault.Match(token: "AB"), start))
    #expect(!struck(Fault.Match(pushType: "alert", token: "ab"), start))
    #expect(struck(Fault.Match(phone: "mara-1"), alert))
  }

  @Test func `a fault with a count is used up and the next takes over`() {
    var plan = FaultPlan([Fault(.drop, count: 2), Fault(.never)])
    var chance = TokenMint(seed: 1)
    let actions = (0..<3).map { _ in plan.strike(start, chance: &chance)?.action }
    #expect(actions == [.drop, .drop, .never])
    #expect(plan.faults.map(\.action) == [.never])
  }

  @Test(arguments: [(0.0, 0...0), (25.0, 200...300), (100.0, 1000...1000)])
  func `a share strikes about so often`(percent: Double, wanted: ClosedRange<Int>) {
    var plan = FaultPlan([Fault(.drop, match: Fault.Match(percent: percent))])
    var chance = TokenMint(seed: 42)
    let count = (0..<1000).filter { _ in plan.strike(start, chance: &chance) != nil }.count
    #expect(wanted.contains(count), "seed 42 struck \(count) times")
  }

  @Test func `a file is read`() throws {
    let text = """
      [{"match": {"push_type": "liveactivity", "percent": 5}, "action": "answer", "status": 503,
        "reason": "ServiceUnavailable", "retry_after_seconds": 7, "count": 3},
       {"action": "delay", "delay_ms": 250}, {"action": "drop", "delivers": true}]
      """
    let faults = try Fault.list(reading: Data(text.utf8))
    #expect(faults.map(\.action) == [.answer, .delay, .drop])
    #expect(faults[0].retryAfterSeconds == 7)
    #expect(faults[1].delayMilliseconds == 250)
    #expect(faults[2].delivers == true)
  }

  @Test(arguments: [
    (#"[{"action": "answer"}]"#, "faults[0].status: absent, want 200 to 599"),
    (#"[{"action": "answer", "status": 600}]"#, "faults[0].status: 600, want 200 to 599"),
    (#"[{"action": "delay"}]"#, "faults[0].delay_ms: absent, want 1 to 600000"),
    (#"[{"action": "drop", "count": 0}]"#, "faults[0].count: 0, want 1 or more"),
    (#"[{"action": "drop", "cuont": 1}]"#, "faults[0].cuont: unknown name"),
    (#"[{"action": "drop", "match": {"tokn": "a"}}]"#, "faults[0].match.tokn: unknown name"),
    (
      #"[{"action": "drop"}, {"action": "drop", "match": {"percent": 101}}]"#,
      "faults[1].match.percent: 101.0, want 0 to 100"
    ),
    (
      #"[{"action": "drop", "match": {"push_type": "Alert"}}]"#,
      "faults[0].match.push_type: Alert, want a push type of APNs, web-push or fcm"
    ),
    (
      #"[{"action": "drop", "match": {"event": "stop"}}]"#,
      "faults[0].match.event: stop, want start, update or end"
    ),
  ])
  func `a mistake is named with its place`(text: String, problem: String) {
    #expect(throws: SettingsError([problem])) { try Fault.list(reading: Data(text.utf8)) }
  }

  @Test(arguments: Fault.Action.allCases)
  func `every action can be asked for in a file`(action: Fault.Action) throws {
    let text = """
      [{"action": "\(action.rawValue)", "status": 503, "delay_ms": 1, "streams": 1, "every": 2}]
      """
    #expect(try Fault.list(reading: Data(text.utf8)).map(\.action) == [action])
  }

  @Test(arguments: ["", "{}", "[1]", #"[{"action": "burn"}]"#])
  func `what is no list of faults is refused`(text: String) {
    #expect(throws: SettingsError.self) { try Fault.list(reading: Data(text.utf8)) }
  }
}
