import Cryptography
import Foundation
import Pushes
import ServiceRuntime
import Vocabulary

/// Stage `webpush`: sends Web Push jobs, and does about each answer what ``Pushes/WebPushRemedy``
/// says.
///
/// The job travels as plaintext and is encrypted when it goes out, to the subscription as it is
/// then. A job that comes twice has one effect: what was taken is not sent again, and what may have
/// been is replaced by its `Topic`.
package final class WebPushSender: QueueingSender {
  package let name = StageName.webpush
  package let isRepeatable = true

  let store: any Store
  let carrier: any WebPushCarrier
  let time: any TimeSource
  let log: Log
  let metrics: WebPushMetrics
  /// Nil while nobody traces.
  let traces: PushTraces?
  private let services: PushServices
  private let keys: VAPIDKeys
  var tokens: VAPIDTokens

  var queue = SendingQueue<Sending, WebPushOutcome>()
  /// By host.
  var guards: [String: MassGuard<SubscriptionID>] = [:]
  private var breaker = HostBreaker()
  /// Alarms given about a host since it last took something.
  var alarmed: [String: Set<String>] = [:]
  /// Said and counted once the transaction that it speaks of is stored.
  var afterCommit: [() -> Void] = []

  package init(
    store: any Store, carrier: any WebPushCarrier, keys: VAPIDKeys, subject: VAPIDSubject,
    services: PushServices, time: any TimeSource, log: Log, metrics: Metrics,
    tracer: Tracer? = nil
  ) {
    self.store = store
    self.carrier = carrier
    self.keys = keys
    self.services = services
    self.time = time
    self.log = log
    self.metrics = WebPushMetrics(metrics)
    tokens = VAPIDTokens(subject: subject)
    traces = tracer.map { PushTraces($0, stage: .webpush) }
  }

  struct Sending: PlacedSending {
    let delivery: Delivery
    let job: WebPushJob
    /// As it was when the job went out; nil before.
    var target: (subscription: WebPushSubscription, key: VAPIDKey)?
    var payload: Data
    var isShort = false
    var hasRenewedToken = false
    var ttl: Int64 = 0
    /// How often it went out on this visit.
    var sends = 0
    var sentAt = UnixTime(milliseconds: 0)

    /// A job that came twice waits for the first one's answer.
    var place: String { job.id }
  }

  package var descriptors: [(descriptor: Int32, events: Int16)] { carrier.descriptors }

  func read(_ delivery: Delivery) throws(UnreadableJob) -> Sending {
    let job = try WebPushJob(reading: delivery.message)
    return Sending(delivery: delivery, job: job, payload: job.payload)
  }

  func count(_ outcome: String) { metrics.count(outcome) }

  func showInFlight() { metrics.inFlight.set(Double(carrier.inFlight)) }

  func collectAnswers() {
    for result in carrier.advance() {
      guard let sending = queue.answer(result.number, result.outcome) else { continue }
      note(result.outcome, of: sending)
    }
  }

  private func note(_ outcome: WebPushOutcome, of sending: Sending) {
    guard let host = sending.target?.subscription.endpoint.host else { return }
    switch outcome {
    case .answered:
      if breaker.answered(host) { log.info("push service answers again", ["host": host]) }
    case .unanswered(let reason):
      if breaker.unanswered(host, now: time.now()) {
        log.error("push service does not answer", ["host": host, "because": reason])
      }
    case .forbidden: break
    }
  }

  // MARK: Sending

  func sendWhatMayGo() throws {
    let chosen = queue.choose(atMost: carrier.capacity)
    guard !chosen.isEmpty else { return }
    let now = time.now()
    let known: WebPushKnowledge
    do {
      known = try lookAgain(chosen.map(\.job))
    } catch {
      queue.putBack(chosen)
      throw error
    }
    for sending in chosen {
      switch WebPushDecision(
        sending.job, knowing: known, services: services, keys: keys, now: now)
      {
      case .send(let subscription, let key): send(sending, to: subscription, key, now: now)
      case .drop(let disposition): queue.drop(sending, disposition)
      }
    }
  }

  private func lookAgain(_ jobs: [WebPushJob]) throws -> WebPushKnowledge {
    try store.read { transaction in
      WebPushKnowledge(
        subscriptions: try transaction.subscriptions(jobs.map(\.subscriptionID)),
        resolved: try transaction.resolvedKeys(among: Array(Set(jobs.map(\.dedupeKey)))),
        accepted: try transaction.acceptedJobs(among: jobs.map(\.id)))
    }
  }

  /// The wait for a host that does not answer.
  private static let waitWhileOpen: Duration = .seconds(30)

  private func send(
    _ sending: Sending, to subscription: WebPushSubscription, _ key: VAPIDKey, now: UnixTime
  ) {
    let host = subscription.endpoint.host
    guard breaker.permits(host, now: now) else {
      return queue.drop(
        sending, .retry(notBefore: Self.waitWhileOpen, because: "\(host) does not answer"))
    }
    var sending = sending
    let body = WebPushEncryption.body(
      of: Array(sending.payload), p256dh: subscription.p256dh, auth: subscription.auth)
    guard let body else {
      let sizes =
        "\(sending.payload.count) octets, want at most \(WebPushEncryption.plaintextBytesMax)"
      return queue.drop(sending, .dead(because: "the payload has \(sizes)"))
    }
    sending.target = (subscription, key)
    sending.ttl = sending.job.ttl(now: now)
    sending.sends += 1
    sending.sentAt = now
    carrier.send(
      WebPushRequest(
        number: queue.send(sending), endpoint: subscription.endpoint,
        liftsAddressRule: services.liftsAddressRule(for: subscription.endpoint),
        authorization: tokens.authorization(
          for: subscription.endpoint, key: key, now: now, elapsed: time.elapsed()),
        ttl: sending.ttl, topic: WebPushTopic.of(sending.job.dedupeKey), body: Data(body)))
  }
}
