import Foundation
import Pipeline
import Testing

@testable import RabbitMQBroker

@Suite struct TopologyFileTests {
  /// One change of the small file and what is then said, with line and column.
  struct Mistake: Sendable, CustomTestStringConvertible {
    let old: String
    let new: String
    let problem: String
    init(_ old: String, _ new: String, _ problem: String) {
      (self.old, self.new, self.problem) = (old, new, problem)
    }
    var testDescription: String { problem }
  }

  static let mistakes = [
    Mistake(
      "exchange: dead,", "exchnage: dead,", "3:9: dead: unknown key \"exchnage\"; known are"),
    Mistake("queue: unroutable,", "", "2:13: unroutable: \"queue\" is missing"),
    Mistake("events: { exchange: events }", "events: [a]", "1:9: events: a mapping is wanted"),
    Mistake("events: { exchange: events }", "", "2:1: queues.yaml: \"events\" is missing"),
    Mistake("delivery-limit: 50", "delivery-limit: 0", "5:25: work: delivery-limit must be a"),
    Mistake("delivery-limit: 50", "delivery-limit: -1", "5:25: work: delivery-limit must be a"),
    Mistake("delivery-limit: 50, ", "", "5:7: work: \"delivery-limit\" is missing"),
    Mistake("max-length: 10000", "max-length: many", "5:41: work: max-length must be a whole"),
    Mistake("prefetch: 50", "prefetch: 2001", "8:34: stage apns: prefetch must be a whole number"),
    Mistake("prefetch: 50", "prefetch: \"x\"", "8:34: stage apns: prefetch must be a whole number"),
    Mistake("queue: apns, ", "", "8:9: stage apns: \"queue\" is missing"),
    Mistake("  notify:", "  notfiy:", "7:3: stages: stage \"notify\" is missing"),
    Mistake("  notify:", "  notfiy:", "9:3: stages: unknown stage \"notfiy\"; known are build"),
    Mistake("[50ms, 100ms,", "[100ms, 50ms,", "8:53: stage apns: rung 50ms must wait longer than"),
    Mistake("[50ms, 100ms,", "[50ms, 50ms,", "8:52: stage apns: rung 50ms must wait longer than"),
    Mistake("[50ms,", "[50,", "8:46: stage apns: a rung must be a time such as 5s"),
    Mistake("[50ms,", "[0s,", "8:46: stage apns: a rung must be a time such as 5s"),
    Mistake("rungs: [1h] }\n  apns", "rungs: [25h] }\n  apns", "7:84: stage build: a rung must be"),
    Mistake(
      "rungs: [1h] }\n  apns", "rungs: [] }\n  apns",
      "7:3: a retry ladder needs at least one rung"),
    Mistake(
      "[50ms,", "[{ wait: 50ms, arguments: { x-expires: 1 } },",
      "8:73: stage apns: rung: x-expires would delete the queue with the messages in it"),
    Mistake(
      "[50ms,", "[{ wait: 50ms, arguments: { x-message-ttl: 1 } },",
      "8:73: stage apns: rung: x-message-ttl is derived"),
    Mistake("[50ms,", "[{ arguments: {} },", "8:46: stage apns: rung: \"wait\" is missing"),
    Mistake("spread: [1]", "spread: [0.9, 1]", "4:18: retry: spread must have 1 to 5 factors"),
    Mistake("spread: [1]", "spread: [1, 3]", "4:22: retry: spread: a factor from 0.5 to 2"),
    Mistake("queue: apns,", "queue: build,", "8:18: exchange \"build\" is already made by line 7"),
    Mistake("queue: apns,", "queue: dead.build,", "8:18: queue \"dead.build\" is already made by"),
    Mistake("queue: apns,", "queue: \"a b\",", "8:18: stage apns: queue: a name of 1 to 200"),
    Mistake("queue: apns,", "queue: amq.apns,", "8:18: stage apns: queue: a name of 1 to 200"),
    Mistake("sends: [apns]", "sends: [sms]", "7:69: stage build: sends: no stage \"sms\""),
    Mistake("max-depth: 0", "max-depth: -1", "2:55: unroutable: expect: max-depth must be a"),
    Mistake("max-depth: 0", "max-age: 1y", "2:53: unroutable: expect: max-age must be a time"),
    Mistake("queue-type: classic", "queue-type: stream", "3:37: dead: queue-type must be classic"),
    Mistake("  notify:", "  apns:", "9:3: key \"apns\" stands here again, first on line 8"),
    Mistake("stages:", "stages: &a", "6:9: anchors and tags are not supported"),
    Mistake("stages:", "\tstages:", "6:1: not YAML: "),
    Mistake("work: {", "work: [", "5:47: not YAML: "),
    Mistake(
      "stages:", "users: { w: { work: [sms] } }\nstages:", "6:22: no stage \"sms\" is declared"),
    Mistake(
      "stages:", "users: { w: { consume: [x] } }\nstages:", "6:25: no queue \"x\" is declared"),
    Mistake(
      "stages:", "users: { w: { publish: [x] } }\nstages:", "6:25: no exchange \"x\" is declared"),
    Mistake(
      "stages:", "users: { w: { configure: yes } }\nstages:", "6:26: user w: configure must be true"
    ),
  ]

  @Test(arguments: mistakes) func `a mistake is refused with line and column`(mistake: Mistake)
    throws
  {
    let yaml = TestTopology.yaml.replacing(mistake.old, with: mistake.new)
    #expect(yaml != TestTopology.yaml)
    let refusal = try #require(throws: TopologyRefused.self) { try Topology(yaml: yaml) }
    #expect(
      refusal.problems.contains { $0.description.hasPrefix(mistake.problem) }, "\(refusal)")
  }

  @Test func `all mistakes are named at once, in the file's order`() throws {
    let yaml = TestTopology.yaml.replacing("prefetch: 50", with: "prefetch: 0")
      .replacing("exchange: dead", with: "exchange: \"\"")
      .replacing("max-length: 2,", with: "max-lenght: 2,")
    let refusal = try #require(throws: TopologyRefused.self) { try Topology(yaml: yaml) }
    #expect(refusal.problems.map(\.mark.line) == [3, 8, 9])
    #expect(refusal.description.split(separator: "\n").allSatisfy { $0.hasPrefix("queues.yaml:") })
  }

  @Test(arguments: ["", "# nothing", "- a", "text", "a: 1\n---\nb: 2", "a: *b", "? [a]\n: b"])
  func `what is no mapping of ours is refused`(yaml: String) {
    #expect(throws: TopologyRefused.self) { try Topology(yaml: yaml) }
  }

  @Test func `a file that is too large or too deep is refused`() throws {
    let large =
      TestTopology.yaml + "#" + String(repeating: "x", count: YAMLReader.maximumSize_bytes)
    let deep = String(repeating: "[", count: YAMLReader.maximumDepth + 1)
    for yaml in [large, deep] {
      #expect(throws: TopologyRefused.self) { try Topology(yaml: yaml) }
    }
  }

  @Test func `a file that is not there is refused with its path`() throws {
    let refusal = try #require(throws: TopologyRefused.self) { try Topology(file: "/no/q.yaml") }
    #expect(refusal.description == "/no/q.yaml:1:1: cannot be read: No such file or directory")
  }

  @Test(arguments: [
    ("250ms", 250), ("5s", 5000), ("2m", 120_000), ("1h", 3_600_000), ("30d", 2_592_000_000),
  ])
  func `times are read`(text: String, milliseconds: Int) {
    #expect(Duration(written: text) == .milliseconds(milliseconds))
  }

  @Test(arguments: ["", "5", "s", "0s", "-1s", "1.5s", "5 s", "31d", "99999999999999999999s", "1S"])
  func `what is no time is nil`(text: String) {
    #expect(Duration(written: text) == nil)
  }
}
