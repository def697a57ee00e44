import Cryptography
import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import Sessions
import TestSupport
import Vocabulary

/// A sender over a store in memory and a push service that answers as told.
final class SenderRig {
  let time: ManualTime
  let storeSwitch = StoreSwitch()
  let store: InMemoryStore
  let transport = ScriptedTransport()
  let sender: APNsSender
  let metrics = Metrics()
  let lanes = LaneBoard()
  private var lastTag: UInt64 = 0

  /// `other`: shares its store, and its clock when there is no other `time`.
  init(
    beside other: SenderRig? = nil, store: InMemoryStore? = nil, time: ManualTime? = nil,
    log: Log = .discarding
  ) {
    self.time = time ?? other?.time ?? ManualTime()
    self.store = store ?? other?.store ?? storeSwitch.store()
    sender = APNsSender(
      store: self.store, pushes: Samples.routes[.apns], transport: transport,
      bundleID: Samples.bundle, time: self.time, log: log, metrics: metrics, lanes: lanes)
  }

  let session = SessionID("cs_1")
  let owner = Samples.mara.userID

  /// Each token has its own activity, so that tests can speak of many.
  func context(_ number: Int) -> ContextKey { ContextKey("context \(number)") }

  func register(
    _ number: Int, _ kind: TokenKind = .update, isProven: Bool = true,
    environment: PushEnvironment = .production, frequent: Bool? = nil, device: String? = nil,
    at moment: UnixTime? = nil
  ) throws {
    var registration = Samples.registration(
      Samples.token(number), of: owner, kind, context: kind == .update ? context(number) : nil,
      device: device, at: moment ?? time.now() - .seconds(3600))
    registration.environment = environment
    registration.provenAt = isProven ? registration.registeredAt : nil
    registration.frequentPushesEnabled = frequent
    try store.write { try $0.register(registration) }
  }

  func job(
    _ number: Int, _ event: PushJob.Event = .update, rev: Int = 1,
    deadlineIn: Duration = .seconds(7200)
  ) throws -> PushJob {
    let payload =
      event == .alert
      ? Data(#"{"aps":{"alert":"x"}}"#.utf8)
      : try LiveActivityPayload(
        event: .update, contentState: ["rev": .integer(Int64(rev))], staleAt: nil
      ).encoded()
    return PushJob(
      id: UUIDText.named([event.rawValue, "\(number)", event == .start ? "" : "\(rev)"]),
      event: event, sessionID: session, userID: owner,
      contextKey: event == .alert ? nil : context(number), rev: rev, token: Samples.token(number),
      environment: .production, bundleID: nil, collapseID: nil,
      dedupeKey: event == .alert ? "cs-invite-cs_1" : nil, deadline: time.now() + deadlineIn,
      causedAt: time.now(), traceparent: nil, payload: payload)
  }

  func delivery(_ job: PushJob, attempt: Int = 1) -> Delivery {
    var message = job.message
    if attempt > 1 { message.headers[RetryHeader.attempt] = .integer(Int64(attempt - 1)) }
    lastTag += 1
    return Samples.delivery(message, lastTag, exchange: "apns", routingKey: "apns")
  }

  /// Takes the jobs and goes on as far as the push service lets it.
  func push(_ jobs: PushJob..., attempt: Int = 1) throws -> [Disposition] {
    try push(all: jobs, attempt: attempt)
  }

  func push(all jobs: [PushJob], attempt: Int = 1) throws -> [Disposition] {
    let taken = try sender.take(jobs.map { delivery($0, attempt: attempt) })
    return try taken.map(\.disposition) + advance()
  }

  /// Turns until nothing more is settled, as a worker does.
  func advance() throws -> [Disposition] {
    var dispositions: [Disposition] = []
    while true {
      let settled = try sender.advance()
      if settled.isEmpty { return dispositions }
      dispositions += settled.map(\.disposition)
    }
  }

  func registration(_ number: Int) throws -> Registration? {
    try store.read { try $0.registrations(of: [Samples.token(number)])[Samples.token(number)] }?
      .first
  }

  /// What the sender counted, as Prometheus reads it.
  var counted: String { metrics.text() }

  func records() throws -> [DeliveryRecord] { try store.read { try $0.deliveries(of: session) } }

  /// Answers by the order of requests; the last answer stands for all further ones.
  func answer(_ outcomes: PushOutcome...) {
    var left = outcomes
    transport.answer = { _ in left.count > 1 ? left.removeFirst() : left.first }
  }

  func answer(_ status: Int, _ reason: String? = nil) {
    transport.answer = { _ in .status(status, reason) }
  }
}
