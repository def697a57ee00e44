import Foundation
import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct SenderRemedyTests {
  private let rig = SenderRig()
  private let probe: Duration = .seconds(15)

  // MARK: Dead tokens

  @Test(arguments: ["Unregistered", "ExpiredToken"])
  func `a 410 retires the token`(reason: String) throws {
    try rig.register(1)
    rig.answer(410, reason)
    #expect(try rig.push(rig.job(1)) == [.done])
    #expect(try rig.registration(1) == nil)
    #expect(rig.counted.contains("lockstep_tokens_pruned_total{reason=\"\(reason)\"} 1"))
  }

  @Test(arguments: [(-7200, false), (-300, true)])
  func `E-1 a 410 of an hour ago spares a token that was registered since`(
    registeredAgo: Int, isSpared: Bool
  ) throws {
    try rig.register(1, at: rig.time.now() + .seconds(registeredAgo))
    let diedAt = rig.time.now() - .seconds(3600)
    rig.transport.answer = { _ in
      .answered(PushAnswer(status: 410, reason: "Unregistered", timestamp: diedAt))
    }
    #expect(try rig.push(rig.job(1)) == [.done])
    #expect(try (rig.registration(1) != nil) == isSpared)
  }

  @Test func `a 410 spares a token that was registered again while the push was in flight`() throws
  {
    try rig.register(1)
    rig.transport.answer = { _ in nil }
    _ = try rig.push(rig.job(1))
    rig.time.advance(by: .seconds(1))
    try rig.register(1, at: rig.time.now())
    let diedAt = rig.time.now() + .seconds(5)
    rig.transport.answer = { _ in
      .answered(PushAnswer(status: 410, reason: "Unregistered", timestamp: diedAt))
    }
    #expect(try rig.advance() == [.done])
    #expect(try rig.registration(1) != nil)
  }

  @Test func `E-6 an activity whose token dies is not started again by the sender`() throws {
    try rig.register(1)
    rig.answer(410, "ExpiredToken")
    let settlements = try rig.sender.take([rig.delivery(rig.job(1))])
    #expect(settlements.isEmpty)
    var outgoing: [OutgoingMessage] = []
    for _ in 0..<3 { outgoing += try rig.sender.advance().flatMap(\.outgoing) }
    #expect(outgoing.isEmpty)
    // Gone is not dismissed: a start that is asked for later may still go, once.
    let dismissed = try rig.store.read { try $0.dismissed(among: [rig.context(1)]) }
    #expect(dismissed.isEmpty)
  }

  // MARK: The wrong environment

  @Test func `an unproven token that is refused is tried in the other environment, and moved`()
    throws
  {
    try rig.register(1, isProven: false)
    rig.transport.answer = {
      $0.environment == .production ? .status(400, "BadDeviceToken") : .status(200)
    }
    #expect(try rig.push(rig.job(1)) == [.done])
    #expect(rig.transport.requests.map(\.environment) == [.production, .sandbox])
    #expect(Set(rig.transport.requests.map(\.apnsID)).count == 1)
    #expect(try rig.registration(1)?.environment == .sandbox)
    #expect(try rig.registration(1)?.provenAt != nil)
  }

  @Test func `refused in both environments it is retired`() throws {
    try rig.register(1, isProven: false)
    rig.answer(400, "BadDeviceToken")
    #expect(try rig.push(rig.job(1)) == [.done])
    #expect(rig.transport.requests.count == 2)
    #expect(try rig.registration(1) == nil)
  }

  @Test func `a proven token is not tried elsewhere`() throws {
    try rig.register(1)
    rig.answer(400, "BadDeviceToken")
    #expect(try rig.push(rig.job(1)) == [.done])
    #expect(rig.transport.requests.count == 1)
    #expect(try rig.registration(1) == nil)
  }

  @Test func `a job made before its token moved does not retire it`() throws {
    try rig.register(1, environment: .sandbox)
    rig.transport.answer = {
      $0.environment == .production ? .status(400, "BadDeviceToken") : .status(200)
    }
    #expect(try rig.push(rig.job(1)) == [.done])
    #expect(try rig.registration(1)?.environment == .sandbox)
  }

  // MARK: Ours to mend

  @Test(arguments: [
    (400, "BadPriority"), (404, "BadPath"), (405, "MethodNotAllowed"), (413, "PayloadTooLarge"),
    (400, "FooBar"),
  ])
  func `what no repetition mends is dead, the token is kept`(status: Int, reason: String) throws {
    try rig.register(1)
    rig.answer(status, reason)
    #expect(try rig.push(rig.job(1)) == [.dead(because: "\(status) \(reason)")])
    #expect(try rig.registration(1) != nil)
    #expect(try rig.records().map(\.reason) == [reason])
  }

  // MARK: Later

  @Test(arguments: [
    (PushJob.Event.update, 429, "TooManyRequests", 30), (.update, 503, "ServiceUnavailable", 30),
    (.alert, 503, "ServiceUnavailable", 900), (.alert, 500, "InternalServerError", 900),
    (.update, 429, "TooManyProviderTokenUpdates", 30), (.update, 599, "FooBar", 30),
  ])
  func `what may go later waits on the ladder, the token is kept`(
    event: PushJob.Event, status: Int, reason: String, seconds: Int
  ) throws {
    try rig.register(1, event == .alert ? .alert : .update)
    rig.answer(status, reason)
    #expect(
      try rig.push(rig.job(1, event)) == [
        .retry(notBefore: .seconds(seconds), because: "\(status) \(reason)")
      ])
    #expect(try rig.registration(1) != nil)
  }

  @Test(arguments: [
    PushOutcome.unanswered(because: "deadline"), .neverProcessed(because: "GOAWAY"),
  ])
  func `D-4 without an answer it goes twice more at once on its first visit`(outcome: PushOutcome)
    throws
  {
    try rig.register(1)
    rig.transport.answer = { _ in outcome }
    let dispositions = try rig.push(rig.job(1))
    guard case .retry(.seconds(5), _) = dispositions.first else {
      Issue.record("\(dispositions)")
      return
    }
    #expect(rig.transport.requests.count == 3)
    #expect(Set(rig.transport.requests.map(\.apnsID)).count == 1)
    #expect(try rig.records().count == 3, "one record per attempt")
  }

  @Test func `on a later visit it goes once, then the ladder`() throws {
    try rig.register(1)
    rig.transport.answer = { _ in .unanswered(because: "deadline") }
    #expect(try rig.push(rig.job(1), attempt: 2).count == 1)
    #expect(rig.transport.requests.count == 1)
  }

  @Test func `sent again it carries the newest stamp, and not what has grown old`() throws {
    try rig.register(1)
    rig.answer(.unanswered(because: "reset"), .status(200))
    #expect(try rig.push(rig.job(1)) == [.done])
    #expect(rig.transport.requests.count == 2)
  }

  // MARK: The provider token

  @Test func `an expired provider token is one try more`() throws {
    try rig.register(1)
    rig.answer(.status(403, "ExpiredProviderToken"), .status(200))
    #expect(try rig.push(rig.job(1)) == [.done])
    #expect(rig.transport.requests.count == 2)
  }

  @Test func `expired twice opens the lane, and its probes go on`() throws {
    try rig.register(1)
    rig.answer(403, "ExpiredProviderToken")
    #expect(try rig.push(rig.job(1)).isEmpty)
    #expect(rig.transport.requests.count == 2)
    for probes in 1...3 {
      rig.time.advance(by: probe)
      #expect(try rig.advance().isEmpty)
      #expect(rig.transport.requests.count == 2 + probes)
    }
    rig.answer(200)
    rig.time.advance(by: probe)
    #expect(try rig.advance() == [.done])
  }

  @Test func `an expired provider token met by a probe does not leave the lane open for ever`()
    throws
  {
    try rig.register(1)
    rig.answer(
      .status(403, "InvalidProviderToken"), .status(403, "ExpiredProviderToken"), .status(200))
    #expect(try rig.push(rig.job(1)).isEmpty)
    rig.time.advance(by: probe)
    #expect(try rig.advance().isEmpty)
    rig.time.advance(by: probe)
    #expect(try rig.advance() == [.done])
  }

  // MARK: Open lanes

  @Test(arguments: [
    (403, "InvalidProviderToken"), (403, "FooBar"), (400, "TopicDisallowed"),
    (400, "MissingTopic"),
  ])
  func `a refusal of everything opens the lane: one probe at a time, nothing walks down the ladder`(
    status: Int, reason: String
  ) throws {
    for number in 1...4 { try rig.register(number) }
    rig.answer(status, reason)
    rig.transport.inFlightMax = 1
    #expect(try rig.push(all: (1...4).map { try rig.job($0) }).isEmpty)
    #expect(rig.transport.requests.count == 1)
    #expect(rig.sender.inHand == 4)
    rig.transport.inFlightMax = 100
    rig.time.advance(by: probe)
    #expect(try rig.advance().isEmpty)
    #expect(rig.transport.requests.count == 2, "one probe")
    #expect(Set(rig.transport.requests.map(\.token)).count == 2, "of another token")
    rig.answer(200)
    rig.time.advance(by: probe)
    #expect(try rig.advance().count == 4)
    #expect(rig.counted.contains("lockstep_lane_open{"))
    #expect(rig.sender.inHand == 0)
  }

  @Test func `other lanes go on`() throws {
    try rig.register(1)
    try rig.register(2, .alert)
    rig.transport.answer = {
      $0.pushType == "alert" ? .status(200) : .status(403, "InvalidProviderToken")
    }
    #expect(try rig.push(rig.job(1), rig.job(2, .alert)) == [.done])
    #expect(rig.sender.inHand == 1)
  }

  @Test func `what waits too long behind an open lane goes back to the queue`() throws {
    try rig.register(1)
    rig.answer(403, "InvalidProviderToken")
    _ = try rig.push(rig.job(1))
    rig.time.advance(by: .seconds(601))
    #expect(try rig.advance() == [.handBack])
    #expect(rig.sender.inHand == 0)
  }

  @Test func `handing back is not lost when the store is away at that moment`() throws {
    for number in 1...2 { try rig.register(number) }
    rig.answer(403, "InvalidProviderToken")
    _ = try rig.push(rig.job(1))
    rig.time.advance(by: .seconds(601))
    try rig.register(3, .pushToStart)
    _ = try rig.sender.take([rig.delivery(rig.job(3, .start))])
    rig.storeSwitch.isAway = true
    #expect(try rig.sender.advance().map(\.disposition) == [.handBack])
  }

  // MARK: Many tokens refused alike

  @Test func `19 tokens refused alike are retired`() throws {
    for number in 1...19 { try rig.register(number) }
    rig.answer(400, "DeviceTokenNotForTopic")
    #expect(try rig.push(all: (1...19).map { try rig.job($0) }).count == 19)
    #expect(try rig.registration(1) == nil)
  }

  @Test func `B-10 with the 20th all are restored and the lane opens, until it is mended`() throws {
    for number in 1...30 { try rig.register(number) }
    rig.answer(400, "DeviceTokenNotForTopic")
    let settled = try rig.push(all: (1...30).map { try rig.job($0) })
    #expect(settled.filter { $0 == .done }.count == 19)
    #expect(settled.filter { $0 == .park(notBefore: .seconds(15)) }.count == 7)
    #expect(rig.sender.inHand == 4, "those that probe")
    for _ in 0..<10 {
      rig.time.advance(by: probe)
      #expect(try rig.advance().isEmpty)
    }
    for number in 1...30 { #expect(try rig.registration(number) != nil, "token \(number)") }
    #expect(rig.counted.contains("lockstep_guard_trips_total"))
    rig.answer(200)
    rig.time.advance(by: probe)
    #expect(try rig.advance().count == 4)
    #expect(rig.sender.inHand == 0)
  }
}
