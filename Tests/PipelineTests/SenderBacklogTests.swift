import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

/// What the sender does when there is more to send than may go.
@Suite struct SenderBacklogTests {
  private let rig = SenderRig()
  private let probe: Duration = .seconds(15)

  // MARK: Coalescing

  @Test func `D-17 of a hundred states that wait for one token only the newest goes out`() throws {
    try rig.register(1)
    let dispositions = try rig.push(all: (1...100).map { try rig.job(1, rev: $0) })
    #expect(rig.transport.requests.count == 1)
    #expect(dispositions.filter { $0 == .done }.count == 1)
    #expect(dispositions.count == 100)
    let token = Samples.token(1)
    #expect(try rig.store.read { try $0.deliveredRev(to: token) } == 100)
  }

  @Test(arguments: [UInt64(1), 2, 3, 4])
  func `in whatever order they come the last state goes out last`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for number in 1...3 { try rig.register(number) }
    var jobs = try (1...3).flatMap { number in try (1...40).map { try rig.job(number, rev: $0) } }
    jobs.shuffle(using: &random)
    rig.transport.inFlightMax = 2
    var settled = 0
    for job in jobs {
      var isSlow = Bool.random(using: &random)
      rig.transport.answer = { _ in
        defer { isSlow = false }
        return isSlow ? nil : .status(200)
      }
      settled += try rig.push(job).count
    }
    rig.answer(200)
    settled += try rig.advance().count
    #expect(settled == jobs.count, "seed \(seed)")
    for number in 1...3 {
      let revs = rig.transport.requests.filter { $0.token == Samples.token(number) }
        .compactMap { String(decoding: $0.body, as: UTF8.self).firstMatch(of: /"rev":(\d+)/) }
        .compactMap { Int($0.1) }
      #expect(revs == revs.sorted(), "seed \(seed)")
      #expect(revs.last == 40, "seed \(seed)")
    }
  }

  @Test func `an end is not overtaken by the state before it`() throws {
    try rig.register(1)
    _ = try rig.push(rig.job(1, .end, rev: 5), rig.job(1, rev: 4))
    #expect(rig.transport.requests.map(\.priority) == [10])
  }

  @Test func `what was overtaken comes back to hand when the store is away`() throws {
    try rig.register(1)
    // Holding a start writes, and only writing fails here.
    try rig.register(2, .pushToStart)
    let start = rig.delivery(try rig.job(2, .start))
    _ = try rig.sender.take((1...3).map { rig.delivery(try rig.job(1, rev: $0)) } + [start])
    rig.storeSwitch.isAway = true
    #expect(throws: StoreError.self) { _ = try rig.sender.advance() }
    #expect(rig.sender.inHand == 4)
    rig.storeSwitch.isAway = false
    #expect(try rig.advance().count == 4)
  }

  // MARK: A phone's budget of starts

  @Test func `E-11 a start over the phone's budget is parked, and goes later`() throws {
    try rig.register(1, .pushToStart)
    for number in 1...15 { try start(number) }
    let dispositions = try rig.push(all: (1...15).map(startJob))
    #expect(dispositions.filter { $0 == .done }.count == 10)
    #expect(dispositions.filter { $0 == .park(notBefore: .seconds(300)) }.count == 5)
    rig.time.advance(by: .seconds(300))
    #expect(try rig.push(startJob(11)) == [.done])
  }

  private func startJob(_ number: Int) throws -> PushJob {
    let job = try rig.job(1, .start)
    return PushJob(
      id: String(format: "00000000-0000-4000-8000-%012d", number), event: .start,
      sessionID: SessionID("cs_\(number)"), userID: job.userID,
      contextKey: ContextKey("start \(number)"), rev: 1, token: job.token,
      environment: .production, bundleID: nil, collapseID: nil, deadline: job.deadline,
      causedAt: job.causedAt, traceparent: nil, payload: job.payload)
  }

  private func start(_ number: Int) throws {
    try rig.store.write {
      try $0.save(
        Start(
          sessionID: SessionID("cs_\(number)"), token: Samples.token(1),
          contextKey: ContextKey("start \(number)"), firstAskedAt: Samples.noon))
    }
  }

  // MARK: An open lane

  @Test func `of an open lane a few stay to probe, the rest is parked without an attempt`() throws {
    for number in 1...40 { try rig.register(number) }
    rig.answer(403, "InvalidProviderToken")
    rig.transport.inFlightMax = 1
    let dispositions = try rig.push(all: (1...40).map { try rig.job($0) })
    #expect(dispositions == Array(repeating: .park(notBefore: .seconds(15)), count: 36))
    #expect(rig.sender.inHand == 4)
  }

  @Test func `the longer a lane is open the longer they are parked, up to two minutes`() throws {
    for number in 1...6 { try rig.register(number) }
    rig.answer(403, "InvalidProviderToken")
    _ = try rig.push(all: (1...4).map { try rig.job($0) })
    for _ in 0..<3 {
      rig.time.advance(by: probe)
      _ = try rig.advance()
    }
    #expect(try rig.push(rig.job(5)) == [.park(notBefore: .seconds(45))])
    for _ in 0..<20 {
      rig.time.advance(by: probe)
      _ = try rig.advance()
    }
    #expect(try rig.push(rig.job(5)) == [.park(notBefore: .seconds(120))])
  }

  @Test func `what is no longer worth sending is not parked`() throws {
    for number in 1...6 { try rig.register(number) }
    rig.answer(403, "InvalidProviderToken")
    _ = try rig.push(all: (1...4).map { try rig.job($0) })
    #expect(try rig.push(rig.job(5, deadlineIn: .zero)) == [.expired])
    #expect(
      try rig.push(rig.job(99)) == [.superseded(because: "the token is gone from the registry")])
  }

  // MARK: The whole service fails

  @Test(arguments: [
    PushOutcome.status(500, "InternalServerError"), .status(503, "ServiceUnavailable"),
    .unanswered(because: "deadline"),
  ])
  func `a service that fails for seconds opens the lane, and nothing climbs the ladder any more`(
    outcome: PushOutcome
  ) throws {
    for number in 1...60 { try rig.register(number) }
    rig.transport.answer = { _ in outcome }
    let first = try rig.push(all: (1...19).map { try rig.job($0) })
    #expect(first.allSatisfy { if case .retry = $0 { true } else { false } })
    rig.time.advance(by: .seconds(3))
    let tripping = try rig.push(rig.job(20))
    #expect(tripping.count == 1)
    #expect(tripping.allSatisfy(isParked))
    #expect(rig.counted.contains("lockstep_lane_open{"))
    let sent = rig.transport.requests.count
    let later = try rig.push(all: (21...60).map { try rig.job($0) })
    #expect(rig.transport.requests.count == sent)
    #expect(later.allSatisfy(isParked))
    rig.time.advance(by: probe)
    let probed = try rig.advance()
    #expect(probed.allSatisfy(isParked), "a probe that fails counts no attempt")
    #expect(rig.transport.requests.count > sent)
    rig.answer(200)
    rig.time.advance(by: probe)
    let mended = try rig.advance()
    #expect(mended.allSatisfy { $0 == .done })
    #expect(rig.sender.inHand == 0)
  }

  private func isParked(_ disposition: Disposition) -> Bool {
    if case .park = disposition { true } else { false }
  }

  // MARK: With a queue

  /// A topic that answers `reason` to every token, beside an alert lane that is well.
  @Test(arguments: ["DeviceTokenNotForTopic", "BadDeviceToken"])
  func `B-10 E-4 a topic that refuses all its tokens: none pruned, all delivered in the end`(
    reason: String
  ) throws {
    let broker = FakeBroker(time: rig.time)
    let worker = Worker(
      route: Samples.routes[.apns], link: broker.link(to: .apns), stage: rig.sender,
      time: rig.time, log: .discarding, metrics: rig.metrics)
    for number in 1...200 { try rig.register(number) }
    for number in 201...300 { try rig.register(number, .alert) }
    var isBroken = true
    rig.transport.answer = { push in
      isBroken && push.pushType != "alert" ? .status(400, reason) : .status(200)
    }
    let jobs = try (1...200).map { try rig.job($0) } + (201...300).map { try rig.job($0, .alert) }
    for job in jobs { broker.put(job.message, into: "apns", exchange: "apns", key: "apns") }
    func run(for span: Duration) throws {
      for _ in 0..<Int(span / .seconds(5)) {
        while try worker.turn() {}
        rig.time.advance(by: .seconds(5))
      }
    }
    try run(for: .seconds(60))
    let alerts = rig.transport.requests.filter { $0.pushType == "alert" }
    #expect(alerts.count == 100, "the other lane goes on")
    try run(for: .seconds(900))
    for number in 1...200 { #expect(try rig.registration(number) != nil, "token \(number)") }
    #expect(rig.counted.contains("lockstep_guard_trips_total 1\n"))
    isBroken = false
    try run(for: .seconds(300))
    let delivered = try rig.records().filter { $0.status == 200 && $0.event == "update" }
    #expect(Set(delivered.map(\.jobID)).count == 200)
    #expect(broker.messages(in: "dead.apns").isEmpty)
    let attempts = Set(try rig.records().map(\.attempt))
    #expect(attempts == [1], "nothing climbed the ladder")
    #expect(broker.violations.isEmpty)
    #expect(worker.inHand == 0)
  }
}
