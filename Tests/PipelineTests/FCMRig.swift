import Cryptography
import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

/// FCM that answers as the test says, at the next ``advance()``.
final class ScriptedFCM: FCMCarrier {
  /// What is answered to a request; nil: nothing yet, it stays in flight.
  var answer: (FCMRequest) -> FCMOutcome? = { _ in .answered(FCMAnswer(status: 200)) }
  var inFlightMax = 100
  /// Everything handed over, in order.
  private(set) var requests: [FCMRequest] = []
  /// Access tokens that the sender said were refused.
  private(set) var refusedTokens: [Int] = []
  /// What messages go out with now.
  private var accessToken = 1
  private var open: [(request: FCMRequest, accessToken: Int)] = []

  var descriptors: [(descriptor: Int32, events: Int16)] { [] }
  var capacity: Int { max(0, inFlightMax - open.count) }
  var inFlight: Int { open.count }

  func send(_ request: FCMRequest) {
    precondition(capacity > 0, "more was sent than there was room for")
    requests.append(request)
    open.append((request, accessToken))
  }

  func renewAccessToken(refused number: Int) {
    refusedTokens.append(number)
    // As the transport does: a token that came since stays.
    if number == accessToken { accessToken += 1 }
  }

  func advance() -> [FCMResult] {
    var results: [FCMResult] = []
    open.removeAll { request, token in
      guard let outcome = answer(request) else { return false }
      var sentWith: Int? = token
      if case .unauthorized = outcome { sentWith = nil }
      results.append(FCMResult(number: request.number, outcome: outcome, accessToken: sentWith))
      return true
    }
    return results
  }

  func close() { open = [] }
}

/// An FCM sender over a store in memory and an FCM that answers as told.
final class FCMRig {
  let time: ManualTime
  let storeSwitch = StoreSwitch()
  let store: InMemoryStore
  let carrier = ScriptedFCM()
  let sender: FCMSender
  let metrics = Metrics()
  let lanes = LaneBoard()
  let lines = LogLines()
  let owner = UserID("u_mara")
  let session = SessionID("cs_1")
  private var lastTag: UInt64 = 0

  /// `other`: shares its store and clock.
  init(beside other: FCMRig? = nil) {
    time = other?.time ?? ManualTime()
    store = other?.store ?? storeSwitch.store()
    sender = FCMSender(
      store: store, pushes: Samples.routes[.fcm], carrier: carrier, project: "cook-example",
      time: time, log: lines.log, metrics: metrics, lanes: lanes)
  }

  func token(_ number: Int) throws -> FCMToken { try FCMToken("Phone:\(number)") }

  /// Each phone has its own card unless `card` says otherwise.
  func context(_ card: Int) -> ContextKey { ContextKey("card \(card)") }

  func register(_ numbers: Int..., of user: UserID? = nil) throws {
    try register(all: numbers, of: user)
  }

  func register(all numbers: [Int], of user: UserID? = nil) throws {
    try store.write { rows in
      for number in numbers {
        try rows.register(
          FCMRegistration(
            userID: user ?? owner, token: token(number), deviceID: nil, packageName: nil,
            registeredAt: time.now() - .seconds(3600)))
      }
    }
  }

  func job(
    _ number: Int, rev: Int = 1, card: Int? = nil, _ event: FCMJob.Event = .update,
    deadlineIn: Duration = .seconds(7200), padding: Int = 0
  ) throws -> FCMJob {
    let context = context(card ?? number)
    var data = FCMData(
      event: event, contextKey: context, sessionID: session, kind: "Cook", rev: rev,
      causedAt: time.now(), contentState: Data(#"{"rev":\#(rev)}"#.utf8))
    data.beside = padding > 0 ? ["padding": String(repeating: "x", count: padding)] : [:]
    return FCMJob(
      id: UUIDText.named(["fcm", context.text, "\(rev)", "\(number)"]), event: event,
      sessionID: session, userID: owner, contextKey: context, rev: rev, token: try token(number),
      packageName: nil, isUrgent: event != .update, deadline: time.now() + deadlineIn,
      causedAt: time.now(), traceparent: nil, data: data.encoded, dataBytes: data.bytes)
  }

  func delivery(_ job: FCMJob, attempt: Int = 1) -> Delivery {
    var message = job.message
    if attempt > 1 { message.headers[RetryHeader.attempt] = .integer(Int64(attempt - 1)) }
    lastTag += 1
    return Samples.delivery(message, lastTag, exchange: "fcm", routingKey: "fcm")
  }

  /// Takes the jobs and goes on as far as FCM lets it.
  func push(_ jobs: FCMJob..., attempt: Int = 1) throws -> [Disposition] {
    try push(all: jobs, attempt: attempt)
  }

  func push(all jobs: [FCMJob], attempt: Int = 1) throws -> [Disposition] {
    try settle(jobs, attempt: attempt).map(\.disposition)
  }

  func settle(_ jobs: [FCMJob], attempt: Int = 1) throws -> [Settlement] {
    let taken = try sender.take(jobs.map { delivery($0, attempt: attempt) })
    return try taken + settleMore()
  }

  /// Turns until nothing more is settled, as a worker does.
  func settleMore() throws -> [Settlement] {
    var settlements: [Settlement] = []
    while true {
      let settled = try sender.advance()
      if settled.isEmpty { return settlements }
      settlements += settled
    }
  }

  func advance() throws -> [Disposition] { try settleMore().map(\.disposition) }

  // MARK: What FCM answers

  /// As FCM writes it. `code`: `FcmError.errorCode`; `field`: what it calls wrong.
  func answer(
    _ status: Int, _ code: String? = nil, state: String = "STATE", words: String = "no",
    field: String? = nil, retryAfter: Int? = nil
  ) -> FCMOutcome {
    var details: [JSONValue] = []
    if let code {
      details.append([
        "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(code),
      ])
    }
    if let field {
      details.append([
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [["field": .string(field), "description": "wrong"]],
      ])
    }
    let body: JSONValue = [
      "error": [
        "code": .integer(Int64(status)), "message": .string(words), "status": .string(state),
        "details": .array(details),
      ]
    ]
    return .answered(
      FCMAnswer(
        status: status, headers: retryAfter.map { ["retry-after": "\($0)"] } ?? [:],
        body: body.encoded, now: time.now()))
  }

  /// To every further request.
  func answerAll(_ outcome: FCMOutcome) { carrier.answer = { _ in outcome } }

  func takeAll() { answerAll(.answered(FCMAnswer(status: 200))) }

  /// By the order of requests; the last stands for all further ones.
  func answers(_ outcomes: FCMOutcome...) {
    var left = outcomes
    carrier.answer = { _ in left.count > 1 ? left.removeFirst() : left.first }
  }

  // MARK: What became of it

  /// Number of the phone and rev of each request, in order.
  func sent() throws -> [String] {
    try carrier.requests.map { request in
      let message = try JSONValue(parsing: request.body)["message"]
      guard case .string(let token)? = message?["token"],
        case .string(let rev)? = message?["data"]?["rev"]
      else { return "?" }
      return "\(token.drop { $0 != ":" }.dropFirst()) rev \(rev)"
    }
  }

  func isThere(_ number: Int) throws -> Bool {
    let token = try token(number)
    return try store.read { try $0.fcmRegistrations([token])[token] != nil }
  }

  func delivered(_ number: Int) throws -> Int? {
    let (token, context) = (try token(number), context(number))
    return try store.read { try $0.deliveredRev(of: context, to: token) }
  }

  func records() throws -> [DeliveryRecord] { try store.read { try $0.deliveries(of: session) } }

  func counter(_ name: String) -> Int {
    let line = metrics.text().split(separator: "\n").first { $0.hasPrefix("\(name) ") }
    return line.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
  }

  var alarms: [String] { lines.all.filter { $0.contains("lane open") } }
}
