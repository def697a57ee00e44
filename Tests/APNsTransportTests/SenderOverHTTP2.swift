import APNsTransport
import Cryptography
import Foundation
import HTTP2
import Pipeline
import Pushes
import SQLiteStore
import ServiceRuntime
import Synchronization
import TestSupport
import Vocabulary

/// The whole sender on its real transport and store, with a stand-in for APNs. What it puts on its
/// ladder comes again at once, one attempt older.
final class SenderOverHTTP2 {
  let apns: StandIn
  let time: any TimeSource
  let store: SQLiteStore
  let metrics = Metrics()
  let lines = Lines()
  let transport: APNsTransport
  let sender: APNsSender
  private let directory = FileManager.default.temporaryDirectory
    .appending(path: "lockstep-sender-\(UUID().uuidString)")
  private let session = SessionID("cs_1")
  private let owner = UserID("u_mara")
  private var open: [DeliveryTag: (job: PushJob, attempt: Int)] = [:]
  private var lastTag: UInt64 = 0
  /// How each job ended; those that come again are not there yet.
  private(set) var ended: [String: Disposition] = [:]

  /// What a log wrote.
  final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }

    var log: Log {
      Log(form: .text, level: .info, role: "test", now: { Samples.noon }) { line in
        self.lines.withLock { $0.append(line) }
      }
    }
  }

  init(
    _ apns: StandIn, time: any TimeSource = SystemTime(), tokens: ProviderTokens? = nil,
    _ change: (inout APNsTransportSettings) -> Void = { _ in }
  ) throws {
    self.apns = apns
    self.time = time
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    store = try SQLiteStore(
      path: directory.appending(path: "store.sqlite").path(percentEncoded: false))
    transport = try apns.transport(time: time, tokens: tokens, change)
    sender = APNsSender(
      store: store, pushes: Samples.routes[.apns], transport: transport,
      bundleID: Samples.bundle, time: time, log: lines.log, metrics: metrics)
  }

  // What is left of it goes with the machine's temporary files.
  deinit { try? FileManager.default.removeItem(at: directory) }

  /// Registers a token with a card of its own, and makes a job for it.
  func job(_ number: Int, isProven: Bool = true) throws -> PushJob {
    let now = time.now()
    let context = ContextKey("context \(number)")
    try store.write {
      try $0.register(
        Samples.registration(
          Samples.token(number), of: owner, .update, context: context, at: now,
          provenAt: isProven ? now : nil))
    }
    return PushJob(
      id: UUIDText.named(["\(number)"]), event: .update, sessionID: session, userID: owner,
      contextKey: context, rev: 1, token: Samples.token(number), environment: .production,
      bundleID: nil, collapseID: nil, deadline: now + .seconds(8 * 3600), causedAt: now,
      traceparent: nil,
      payload: try LiveActivityPayload(
        event: .update, contentState: ["rev": 1], staleAt: now + .seconds(3600)
      ).encoded())
  }

  func take(_ jobs: [PushJob]) throws {
    try settle(sender.take(jobs.map { delivery($0, attempt: 1) }))
  }

  private func delivery(_ job: PushJob, attempt: Int) -> Delivery {
    var message = job.message
    if attempt > 1 { message.headers[RetryHeader.attempt] = .integer(Int64(attempt - 1)) }
    lastTag += 1
    let delivery = Samples.delivery(message, lastTag, exchange: "apns", routingKey: "apns")
    open[delivery.tag] = (job, attempt)
    return delivery
  }

  private func settle(_ settlements: [Settlement]) throws {
    for settlement in settlements {
      guard let (job, attempt) = open.removeValue(forKey: settlement.delivery.tag) else { continue }
      switch settlement.disposition {
      case .retry: try settle(sender.take([delivery(job, attempt: attempt + 1)]))
      case .park, .handBack: try settle(sender.take([delivery(job, attempt: attempt)]))
      default: ended[job.id] = settlement.disposition
      }
    }
  }

  /// Turns until `isDone`, or the limit is over.
  ///
  /// - Returns: whether it was done.
  @discardableResult
  func turn(atMost limit: Duration = .seconds(120), until isDone: () -> Bool) throws -> Bool {
    let end = monotonicTime() + limit
    while !isDone() {
      guard monotonicTime() < end else { return false }
      try settle(sender.advance())
      apns.look()
      Poll.wait(transport.descriptors, atMost: .milliseconds(5))
    }
    return true
  }
}
