import Pipeline
import Pushes
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

/// While FCM is down or refuses the project, jobs wait uncounted and one probe at a time goes out.
@Suite struct FCMLaneTests {
  private let rig = FCMRig()
  private let phones = Array(1...40)

  private func jobs(_ numbers: some Sequence<Int>, rev: Int = 1) throws -> [FCMJob] {
    try numbers.map { try rig.job($0, rev: rev) }
  }

  private func isParked(_ disposition: Disposition) -> Bool {
    if case .park = disposition { true } else { false }
  }

  private func openLane() throws {
    try rig.register(all: phones)
    rig.answerAll(rig.answer(403, state: "PERMISSION_DENIED"))
    #expect(try rig.push(rig.job(1)).allSatisfy(isParked))
  }

  @Test func `behind an open lane four wait in hand, the others in a rung, uncounted`() throws {
    try openLane()
    let dispositions = try rig.push(all: jobs(2...12))
    #expect(dispositions.count == 7)
    #expect(dispositions.allSatisfy(isParked))
    #expect(rig.sender.inHand == 4)
    #expect(rig.carrier.requests.count == 1)
  }

  @Test func `one probe at a time, when it is due, and its success lets all go on`() throws {
    try openLane()
    _ = try rig.push(all: jobs(2...5))
    rig.time.advance(by: .seconds(15))
    rig.carrier.answer = { _ in nil }
    #expect(try rig.advance().isEmpty)
    #expect(try rig.sent() == ["1 rev 1", "2 rev 1"])
    rig.time.advance(by: .seconds(60))
    #expect(try rig.advance().isEmpty)
    #expect(rig.carrier.requests.count == 2, "one at a time")
    rig.takeAll()
    #expect(try rig.advance() == [.done, .done, .done, .done])
    #expect(rig.lanes.open.isEmpty)
    #expect(rig.alarms.count == 1)
    #expect(rig.lines.all.contains { $0.contains("lane closed") })
    let closed = #"lockstep_lane_open{environment="fcm",topic="cook-example"} 0"#
    #expect(rig.metrics.text().contains(closed))
  }

  @Test func `a refused probe is parked, and the next one is another phone's`() throws {
    try openLane()
    _ = try rig.push(all: jobs(2...3))
    for _ in 0..<2 {
      rig.time.advance(by: .seconds(15))
      #expect(try rig.advance().allSatisfy(isParked))
    }
    #expect(try rig.sent() == ["1 rev 1", "2 rev 1", "3 rev 1"])
    #expect(rig.sender.inHand == 0)
    #expect(rig.alarms.count == 1, "one alarm for one opening")
    #expect(rig.counter("lockstep_fcm_incidents_total") == 1)
  }

  @Test func `it recovers without a restart, and a second incident is told again`() throws {
    try openLane()
    rig.takeAll()
    rig.time.advance(by: .seconds(15))
    #expect(try rig.push(rig.job(1)) == [.done])
    rig.answerAll(rig.answer(403, state: "PERMISSION_DENIED"))
    #expect(try rig.push(rig.job(2)).allSatisfy(isParked))
    #expect(rig.alarms.count == 2)
    #expect(rig.counter("lockstep_fcm_incidents_total") == 2)
  }

  @Test func `what was on its way when FCM asked for a pause does not end it`() throws {
    try rig.register(all: phones)
    rig.carrier.answer = { _ in nil }
    _ = try rig.push(all: jobs(1...2))
    rig.answers(
      rig.answer(429, state: "RESOURCE_EXHAUSTED", retryAfter: 60),
      .answered(FCMAnswer(status: 200)))
    #expect(try rig.advance() == [.park(notBefore: .seconds(60)), .done])
    #expect(rig.lanes.open.count == 1)
    _ = try rig.push(rig.job(3))
    rig.time.advance(by: .seconds(59))
    #expect(try rig.advance().isEmpty)
    #expect(rig.carrier.requests.count == 2)
    rig.time.advance(by: .seconds(1))
    #expect(try rig.advance() == [.done])
    #expect(rig.lanes.open.isEmpty)
  }

  @Test func `a pause of a day is probed after ten minutes`() throws {
    try rig.register(1, 2)
    rig.answerAll(rig.answer(429, state: "RESOURCE_EXHAUSTED", retryAfter: 86_400))
    #expect(try rig.push(rig.job(1)) == [.park(notBefore: .seconds(120))])
    _ = try rig.push(rig.job(2))
    rig.takeAll()
    rig.time.advance(by: .seconds(600))
    #expect(try rig.advance() == [.done])
  }

  @Test(arguments: [503, 500, 429, nil])
  func `when most messages fail the lane opens, and nothing more walks the ladder`(status: Int?)
    throws
  {
    try rig.register(all: phones)
    rig.answerAll(
      status.map { rig.answer($0, $0 == 429 ? "QUOTA_EXCEEDED" : "UNAVAILABLE") }
        ?? .unanswered(because: "timeout"))
    var dispositions: [Disposition] = []
    for number in phones.prefix(20) {
      dispositions += try rig.push(rig.job(number))
      rig.time.advance(by: .milliseconds(200))
    }
    #expect(!dispositions.prefix(19).contains(where: isParked))
    #expect(dispositions.last.map(isParked) == true)
    #expect(rig.lanes.open.count == 1)
    let before = rig.carrier.requests.count
    let after = try rig.push(all: jobs(21...30))
    #expect(after.allSatisfy(isParked))
    #expect(rig.carrier.requests.count == before)
    // A failed probe counts no attempt either.
    rig.time.advance(by: .seconds(60))
    #expect(try rig.advance().allSatisfy(isParked))
    rig.takeAll()
    rig.time.advance(by: .seconds(60))
    #expect(try rig.advance().allSatisfy { $0 == .done })
    #expect(rig.lanes.open.isEmpty)
    #expect(rig.alarms.count == 1)
  }

  @Test func `one phone that has had enough, of however many cards, stops no other`() throws {
    try rig.register(1, 2)
    rig.answerAll(rig.answer(429, "QUOTA_EXCEEDED"))
    for card in 1...60 {
      _ = try rig.push(rig.job(1, card: card))
      rig.time.advance(by: .milliseconds(200))
    }
    #expect(rig.lanes.open.isEmpty)
    rig.takeAll()
    #expect(try rig.push(rig.job(2)) == [.done])
  }

  @Test func `one message that fails among many opens nothing`() throws {
    try rig.register(all: phones)
    rig.carrier.answer = { [rig] request in
      request.number % 3 == 0 ? rig.answer(503, "UNAVAILABLE") : .answered(FCMAnswer(status: 200))
    }
    for number in phones {
      _ = try rig.push(rig.job(number))
      rig.time.advance(by: .milliseconds(200))
    }
    #expect(rig.lanes.open.isEmpty)
  }

  @Test func `what is over while it is parked is dropped and not parked again`() throws {
    try openLane()
    _ = try rig.push(all: jobs(2...5))
    let over = try (6...8).map { try rig.job($0, deadlineIn: .zero) }
    #expect(try rig.push(all: over) == [.expired, .expired, .expired])
  }

  @Test func `a phone that is gone closes the lane: FCM looks at messages again`() throws {
    try openLane()
    rig.answerAll(rig.answer(404, "UNREGISTERED"))
    rig.time.advance(by: .seconds(15))
    #expect(try rig.push(rig.job(2)) == [.done])
    #expect(rig.lanes.open.isEmpty)
    #expect(try !rig.isThere(2))
  }

  @Test func `an open lane is not forgotten with a transaction that failed, nor opened by it`()
    throws
  {
    try rig.register(1)
    rig.carrier.answer = { _ in nil }
    _ = try rig.push(rig.job(1))
    rig.answerAll(rig.answer(403, state: "PERMISSION_DENIED"))
    rig.storeSwitch.isAway = true
    #expect(throws: StoreError.self) { try rig.advance() }
    #expect(rig.lanes.open.isEmpty)
    #expect(rig.alarms.isEmpty)
    rig.storeSwitch.isAway = false
    #expect(try rig.advance().allSatisfy(isParked))
    #expect(rig.alarms.count == 1)
    #expect(rig.counter("lockstep_fcm_incidents_total") == 1)
  }

  // MARK: The mass guard

  @Test(arguments: ["UNREGISTERED", "SENDER_ID_MISMATCH"])
  func `a project that forgets all its phones prunes none, raises one alarm, and recovers`(
    code: String
  ) throws {
    try rig.register(all: phones)
    rig.answerAll(rig.answer(404, code))
    let settled = try phones.flatMap { try rig.settle([rig.job($0)]) }
    #expect(settled.prefix(19).allSatisfy { $0.disposition == .done })
    // What they missed while they counted as gone is still due.
    let due = try settled.flatMap(\.outgoing).map { try FCMJob(reading: $0.message).token }
    #expect(try Set(due) == Set((1...19).map { try rig.token($0) }))
    for number in phones { #expect(try rig.isThere(number), "\(number)") }
    #expect(rig.alarms.count == 1)
    #expect(rig.counter("lockstep_guard_trips_total") == 1)
    #expect(rig.carrier.requests.count == 20, "the others wait")
    rig.takeAll()
    rig.time.advance(by: .seconds(120))
    _ = try rig.advance()
    #expect(rig.lanes.open.isEmpty)
    #expect(try rig.push(all: jobs(phones, rev: 2)).allSatisfy { $0 == .done })
  }

  @Test func `twenty dead phones among many that live are pruned`() throws {
    let many = Array(1...60)
    try rig.register(all: many)
    rig.carrier.answer = { [rig] request in
      request.number % 3 == 0 ? rig.answer(404, "UNREGISTERED") : .answered(FCMAnswer(status: 200))
    }
    for number in many { _ = try rig.push(rig.job(number)) }
    #expect(try many.filter { try rig.isThere($0) }.count == 40)
    #expect(rig.lanes.open.isEmpty)
  }
}
