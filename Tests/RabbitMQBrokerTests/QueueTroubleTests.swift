import RabbitMQBroker
import Testing

@Suite struct QueueTroubleTests {
  private static let topology = Result {
    try Topology(
      yaml: TestTopology.yaml.replacing(
        "queue: apns,",
        with: """
          queue: apns,
              expect: { max-depth: 100, max-age: 30s, min-consumers: 2, messages-per-worker: 50 },
          """
      ).replacing("queue-type: classic }", with: "queue-type: classic, expect: { max-depth: 0 } }"))
  }

  private func row(
    _ name: String = "apns", exists: Bool = true, depth: Int? = 0, consumers: Int? = 2,
    rates: (Double, Double)? = nil, atLeast seconds: Int? = nil, dead: Int = 0
  ) throws -> QueueBoard.Row {
    let topology = try Self.topology.get()
    let deadQueue = topology.queue("dead.\(name)")
    return QueueBoard.Row(
      queue: try #require(topology.queue(name)), exists: exists, depth: depth, unacked: nil,
      consumers: consumers, rates: rates,
      oldest: seconds.map { QueueAge(atLeast: .seconds($0), atMost: nil) }, rungs: [],
      dead: deadQueue.map { ($0, dead) })
  }

  private func said(_ rows: QueueBoard.Row...) -> [String] {
    QueueBoard(rows: rows, unknown: [], statisticsAge: nil)
      .troubles { "\($0)-sender" }.map(\.description)
  }

  @Test func `on the limit is not over it`() throws {
    #expect(said(try row(depth: 100, consumers: 2, rates: (5, 1), atLeast: 30)) == [])
    #expect(said(try row(depth: nil, consumers: nil)) == [], "the unknown is no trouble")
    #expect(said(try row("build", depth: 1_000_000, consumers: 0)) == [], "nothing is expected")
  }

  @Test func `a queue that nobody reads says whom to start, and nothing else`() throws {
    #expect(
      said(try row(depth: 7, consumers: 0, atLeast: 5))
        == ["apns: nobody reads it, at least 2 expected; 7 wait. Start apns-sender"])
    #expect(
      said(try row(depth: 101, consumers: 1, atLeast: 31))
        == [
          "apns: only 1 read it, at least 2 expected; 101 wait, at most 100 expected; "
            + "the oldest has waited at least 31.0 s, at most 30.0 s expected. "
            + "Start more of apns-sender"
        ])
  }

  @Test func `a stage that may be switched off wants a reader only while something waits`() throws {
    let yaml = TestTopology.yaml.replacing(
      "queue: apns,", with: "queue: apns, expect: { min-consumers: 1, optional: true },")
    let queue = try #require(try Topology(yaml: yaml).queue("apns"))
    func said(_ depth: Int?, _ consumers: Int?) -> [String] {
      let row = QueueBoard.Row(
        queue: queue, exists: true, depth: depth, unacked: nil, consumers: consumers, rates: nil,
        oldest: nil, rungs: [], dead: nil)
      return QueueBoard(rows: [row], unknown: [], statisticsAge: nil)
        .troubles { "\($0)-sender" }.map(\.description)
    }
    #expect(said(0, 0) == [])
    #expect(said(nil, 0) == [])
    #expect(said(3, 1) == [])
    #expect(said(1, 0) == ["apns: nobody reads it, at least 1 expected; 1 wait. Start apns-sender"])
  }

  @Test func `a queue that is too deep says whether it grows, drains or stands`() throws {
    let wrong = "apns: 101 wait, at most 100 expected. "
    #expect(
      said(try row(depth: 101)) == [wrong + "Look at /readyz of apns-sender, or start more of it"])
    #expect(
      said(try row(depth: 101, rates: (9, 0)))
        == [wrong + "Its readers finish nothing: look at /readyz and the log of apns-sender"])
    #expect(
      said(try row(depth: 101, rates: (9.5, 8)))
        == [wrong + "It grows by 1.5/s: start more of apns-sender, 3 in all"])
    #expect(
      said(try row(depth: 101, rates: (8, 109)))
        == [wrong + "It drains, in about 1.000 s; more of apns-sender would be faster"])
  }

  @Test func `a queue that is too old is in trouble though it is short`() throws {
    #expect(
      said(try row(depth: 1, rates: (0, 0), atLeast: 31))
        == [
          "apns: the oldest has waited at least 31.0 s, at most 30.0 s expected. "
            + "Its readers finish nothing: look at /readyz and the log of apns-sender"
        ])
  }

  @Test func `what stops everything comes first`() throws {
    #expect(
      said(
        try row(dead: 3), try row(consumers: 0), try row("notify", exists: false),
        try row("unroutable", depth: 2, consumers: 0))
        == [
          "notify: queue notify is missing. Run lockstep topology apply",
          "apns: nobody reads it, at least 2 expected. Start apns-sender",
          "apns: 3 dead letters. See lockstep dead list --stage apns",
          "unroutable: 2 events that no queue took. "
            + "See lockstep dead list --stage unroutable, and lockstep topology plan",
        ])
  }
}
