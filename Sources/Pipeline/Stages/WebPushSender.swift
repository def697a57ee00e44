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
package final class WebPushSender: Stage {
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

  /// Not sent yet, what goes next first.
  var waiting: [Sending] = []
  /// Sent, by request number.
  private var sent: [UInt64: Sending] = [:]
  /// Ids of the jobs in `sent`: a job that came twice waits for the first one's answer.
  private var busyJobs: Set<String> = []
  /// Answered; not stored yet.
  private var answered: [(Sending, WebPushOutcome)] = []
  private var nextNumber: UInt64 = 1
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

  /// One job on its way through the sender.
  struct Sending {
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
  }

  package var inHand: Int { waiting.count + sent.count + answered.count }
  package var capacity: Int { .max }
  package var descriptors: [(descriptor: Int32, events: Int16)] { carrier.descriptors }

  package func take(_ deliveries: [Delivery]) throws -> [Settlement] {
    var settlements: [Settlement] = []
    for delivery in deliveries {
      do {
        let job = try WebPushJob(reading: delivery.message)
        waiting.append(Sending(delivery: delivery, job: job, payload: job.payload))
      } catch {
        settlements.append(settlement(delivery, .dead(because: "\(error)")))
      }
    }
    return settlements
  }

  package func advance() throws -> [Settlement] {
    var settlements: [Settlement] = []
    do {
      repeat {
        collectAnswers()
        settlements += try settleAnswered()
        settlements += try sendWhatMayGo()
        collectAnswers()
      } while !answered.isEmpty
    } catch {
      // What was settled above is stored and must be acknowledged; the next turn meets the store
      // again.
      if settlements.isEmpty { throw error }
    }
    metrics.inFlight.set(Double(carrier.inFlight))
    return settlements
  }

  private func settleAnswered() throws -> [Settlement] {
    guard !answered.isEmpty else { return [] }
    let settlements = try settle(answered)
    answered = []
    return settlements
  }

  private func collectAnswers() {
    for result in carrier.advance() {
      guard let sending = sent.removeValue(forKey: result.number) else { continue }
      busyJobs.remove(sending.job.id)
      note(result.outcome, of: sending)
      answered.append((sending, result.outcome))
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

  /// Counts and settles.
  func settlement(_ delivery: Delivery, _ disposition: Disposition) -> Settlement {
    metrics.count(disposition.outcome)
    return Settlement(delivery, disposition)
  }

  // MARK: Sending

  private func sendWhatMayGo() throws -> [Settlement] {
    let chosen = chooseWaiting(atMost: carrier.capacity)
    guard !chosen.isEmpty else { return [] }
    let now = time.now()
    let known: WebPushKnowledge
    do {
      known = try lookAgain(chosen.map(\.job))
    } catch {
      waiting = chosen + waiting
      throw error
    }
    return chosen.compactMap { sending in
      switch WebPushDecision(
        sending.job, knowing: known, services: services, keys: keys, now: now)
      {
      case .send(let subscription, let key): send(sending, to: subscription, key, now: now)
      case .drop(let disposition): settlement(sending.delivery, disposition)
      }
    }
  }

  private func chooseWaiting(atMost count: Int) -> [Sending] {
    guard count > 0, !waiting.isEmpty else { return [] }
    var chosen: [Sending] = []
    var chosenJobs: Set<String> = []
    waiting = waiting.filter { sending in
      let id = sending.job.id
      guard chosen.count < count, !busyJobs.contains(id), chosenJobs.insert(id).inserted else {
        return true
      }
      chosen.append(sending)
      return false
    }
    return chosen
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

  /// Nil when it is under way.
  private func send(
    _ sending: Sending, to subscription: WebPushSubscription, _ key: VAPIDKey, now: UnixTime
  ) -> Settlement? {
    let host = subscription.endpoint.host
    guard breaker.permits(host, now: now) else {
      return settlement(
        sending.delivery,
        .retry(notBefore: Self.waitWhileOpen, because: "\(host) does not answer"))
    }
    var sending = sending
    let body = WebPushEncryption.body(
      of: Array(sending.payload), p256dh: subscription.p256dh, auth: subscription.auth)
    guard let body else {
      let sizes =
        "\(sending.payload.count) octets, want at most \(WebPushEncryption.plaintextBytesMax)"
      return settlement(sending.delivery, .dead(because: "the payload has \(sizes)"))
    }
    sending.target = (subscription, key)
    sending.ttl = sending.job.ttl(now: now)
    sending.sends += 1
    sending.sentAt = now
    let number = nextNumber
    nextNumber += 1
    sent[number] = sending
    busyJobs.insert(sending.job.id)
    carrier.send(
      WebPushRequest(
        number: number, endpoint: subscription.endpoint,
        liftsAddressRule: services.liftsAddressRule(for: subscription.endpoint),
        authorization: tokens.authorization(
          for: subscription.endpoint, key: key, now: now, elapsed: time.elapsed()),
        ttl: sending.ttl, topic: WebPushTopic.of(sending.job.dedupeKey), body: Data(body)))
    return nil
  }

  // MARK: Giving up

  package func forgetWaiting() { waiting = [] }

  package func giveUpWaiting() -> [Delivery] {
    let rest = waiting.map(\.delivery)
    waiting = []
    return rest
  }
}
