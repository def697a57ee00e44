import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

/// One test for each row of the table of FCM's answers (research/push-systems.md 5.3).
@Suite struct FCMAnswerTests {
  private let rig = FCMRig()

  /// What becomes of one job that FCM answers so.
  private func push(_ outcome: FCMOutcome) throws -> Disposition? {
    try rig.register(1)
    rig.answerAll(outcome)
    return try rig.push(rig.job(1)).first
  }

  private func expectOpenLane(because reason: String) throws {
    #expect(rig.lanes.open.map(\.because) == [reason])
    #expect(rig.lanes.open.map(\.environment) == ["fcm"])
    #expect(rig.lanes.open.map(\.topic) == ["cook-example"])
    #expect(rig.alarms.count == 1)
    #expect(try rig.isThere(1))
    #expect(try rig.records().map(\.consequence).last == .laneOpened)
  }

  @Test func `404 UNREGISTERED prunes the phone`() throws {
    #expect(try push(rig.answer(404, "UNREGISTERED")) == .done)
    #expect(try !rig.isThere(1))
    #expect(try rig.records().map(\.consequence) == [.pruned])
    #expect(rig.lanes.open.isEmpty)
  }

  @Test func `404 UNREGISTERED leaves a phone that registered again meanwhile`() throws {
    try rig.register(1)
    rig.carrier.answer = { [rig] _ in
      rig.time.advance(by: .seconds(1))
      try? rig.store.write { rows in
        try rows.register(
          FCMRegistration(
            userID: rig.owner, token: rig.token(1), deviceID: nil, packageName: nil,
            registeredAt: rig.time.now()))
      }
      return rig.answer(404, "UNREGISTERED")
    }
    #expect(try rig.push(rig.job(1)) == [.done])
    #expect(try rig.isThere(1))
    #expect(try rig.records().map(\.consequence) == [.kept])
  }

  @Test func `404 without a code is another project: nothing is pruned, the lane opens`() throws {
    #expect(try push(rig.answer(404, state: "NOT_FOUND")) == .park(notBefore: .seconds(15)))
    try expectOpenLane(because: "404 NOT_FOUND: no")
    #expect(rig.counter("lockstep_fcm_incidents_total") == 1)
  }

  @Test func `400 INVALID_ARGUMENT that names a field is our payload: dead, the phone stays`()
    throws
  {
    let answer = rig.answer(400, "INVALID_ARGUMENT", field: "message.data")
    #expect(try push(answer) == .dead(because: "400 INVALID_ARGUMENT: no"))
    #expect(try rig.isThere(1))
  }

  @Test func `400 INVALID_ARGUMENT without a word on the token is dead, the phone stays`() throws {
    #expect(
      try push(rig.answer(400, "INVALID_ARGUMENT")) == .dead(because: "400 INVALID_ARGUMENT: no"))
    #expect(try rig.isThere(1))
  }

  @Test(arguments: ["message.token", nil])
  func `400 INVALID_ARGUMENT of the token prunes it`(field: String?) throws {
    let words =
      field == nil
      ? "The registration token is not a valid FCM registration token"
      : "Request contains an invalid argument."
    #expect(try push(rig.answer(400, "INVALID_ARGUMENT", words: words, field: field)) == .done)
    #expect(try !rig.isThere(1))
  }

  @Test func `403 SENDER_ID_MISMATCH prunes a phone of another project`() throws {
    #expect(try push(rig.answer(403, "SENDER_ID_MISMATCH")) == .done)
    #expect(try !rig.isThere(1))
    #expect(rig.lanes.open.isEmpty)
  }

  @Test(arguments: ["THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR"])
  func `401 THIRD_PARTY_AUTH_ERROR is an incident of the project`(code: String) throws {
    #expect(try push(rig.answer(401, code)) == .park(notBefore: .seconds(15)))
    try expectOpenLane(because: "401 \(code): no")
    #expect(rig.carrier.refusedTokens.isEmpty, "another access token would not help")
  }

  @Test func `401 UNAUTHENTICATED renews the access token and sends once more, at once`() throws {
    try rig.register(1)
    rig.answers(
      rig.answer(401, state: "UNAUTHENTICATED"), .answered(FCMAnswer(status: 200)))
    #expect(try rig.push(rig.job(1)) == [.done])
    #expect(rig.carrier.refusedTokens == [1])
    #expect(try rig.sent() == ["1 rev 1", "1 rev 1"])
    #expect(try rig.records().map(\.consequence) == [.again, .accepted])
    #expect(rig.lanes.open.isEmpty)
  }

  @Test func `401 of many at once names one access token, and each goes once more`() throws {
    try rig.register(1, 2, 3)
    let refusals = (1...3).map { _ in rig.answer(401, state: "UNAUTHENTICATED") }
    rig.answers(refusals[0], refusals[1], refusals[2], .answered(FCMAnswer(status: 200)))
    #expect(try rig.push(all: (1...3).map { try rig.job($0) }) == [.done, .done, .done])
    #expect(Set(rig.carrier.refusedTokens) == [1], "the one that came since stays")
    #expect(rig.carrier.requests.count == 6)
  }

  @Test func `401 with a new access token too is an incident, and is not tried for ever`() throws {
    #expect(
      try push(rig.answer(401, state: "UNAUTHENTICATED")) == .park(notBefore: .seconds(15)))
    #expect(rig.carrier.requests.count == 2)
    try expectOpenLane(because: "401 UNAUTHENTICATED: no")
    #expect(rig.counter("lockstep_fcm_incidents_total") == 1)
  }

  @Test func `403 PERMISSION_DENIED is an incident of the project`() throws {
    #expect(try push(rig.answer(403, state: "PERMISSION_DENIED")) == .park(notBefore: .seconds(15)))
    try expectOpenLane(because: "403 PERMISSION_DENIED: no")
    #expect(rig.counter("lockstep_fcm_incidents_total") == 1)
  }

  @Test func `429 of a phone waits as long as it is told, else a minute, and the others go on`()
    throws
  {
    let words = "429 QUOTA_EXCEEDED"
    #expect(
      try push(rig.answer(429, "QUOTA_EXCEEDED"))
        == .retry(notBefore: .seconds(60), because: words))
    #expect(
      try push(rig.answer(429, "QUOTA_EXCEEDED", retryAfter: 90))
        == .retry(notBefore: .seconds(90), because: words))
    #expect(rig.lanes.open.isEmpty)
  }

  @Test func `429 of the project stops everything for as long as it is told`() throws {
    let answer = rig.answer(429, state: "RESOURCE_EXHAUSTED", retryAfter: 40)
    #expect(try push(answer) == .park(notBefore: .seconds(40)))
    try expectOpenLane(because: "429 RESOURCE_EXHAUSTED")
    #expect(rig.counter("lockstep_fcm_incidents_total") == 0, "no person need act")
  }

  @Test(arguments: [(500, "INTERNAL"), (503, "UNAVAILABLE")])
  func `5xx waits on the ladder, and the phone stays`(status: Int, code: String) throws {
    let words = "\(status) \(code)"
    #expect(
      try push(rig.answer(status, code)) == .retry(notBefore: .seconds(10), because: words))
    #expect(
      try push(rig.answer(status, code, retryAfter: 30))
        == .retry(notBefore: .seconds(30), because: words))
    #expect(try rig.isThere(1))
    #expect(try rig.records().map(\.consequence) == [.retried, .retried])
  }

  @Test func `no answer waits on the ladder, and the same message goes again`() throws {
    #expect(
      try push(.unanswered(because: "reset")) == .retry(notBefore: .seconds(5), because: "reset"))
    rig.takeAll()
    #expect(try rig.push(rig.job(1), attempt: 2) == [.done])
    #expect(try rig.sent() == ["1 rev 1", "1 rev 1"])
  }

  @Test func `without an access token nothing walks down the ladder`() throws {
    let none = NoAccessToken("400 invalid_grant", isRefusal: true)
    #expect(try push(.unauthorized(none)) == .park(notBefore: .seconds(15)))
    try expectOpenLane(because: "no access token: 400 invalid_grant")
    #expect(rig.counter("lockstep_fcm_incidents_total") == 1)
    #expect(try rig.records().map(\.wasSent) == [false])
  }

  @Test func `a token endpoint that is away is nobody's mistake, and opens the lane too`() throws {
    let none = NoAccessToken("timeout", isRefusal: false)
    #expect(try push(.unauthorized(none)) == .park(notBefore: .seconds(15)))
    try expectOpenLane(because: "no access token: timeout")
    #expect(rig.counter("lockstep_fcm_incidents_total") == 0)
  }
}
