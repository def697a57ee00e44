import Foundation
import Pushes
import ServiceRuntime
import Vocabulary

/// Stage `fcm`: sends cards' states to Android phones, and does about each answer what
/// ``Pushes/FCMRemedy`` says.
///
/// States of one card for one phone go out one after the other and only the newest: FCM keeps what
/// came last for a phone that is away. A job that comes twice has one effect, because each message
/// is a whole state with its rev.
package final class FCMSender: Stage {
  package let name = StageName.fcm
  package let isRepeatable = true

  let store: any Store
  let pushes: StageRoute
  let carrier: any FCMCarrier
  let time: any TimeSource
  let log: Log
  let metrics: FCMMetrics
  /// Nil while nobody traces.
  let traces: PushTraces?

  /// Not sent yet, what goes next first.
  var waiting: [Sending] = []
  /// Sent, by request number.
  private var sent: [UInt64: Sending] = [:]
  private var busy: Set<FCMPlace> = []
  /// Answered; not stored yet.
  private var answered: [(Sending, FCMResult)] = []
  private var nextNumber: UInt64 = 1
  var massGuard = MassGuard<FCMToken>()
  /// Alarms given since FCM last took something.
  var alarmed: Set<String> = []
  /// Said and counted once the transaction that it speaks of is stored.
  var afterCommit: [() -> Void] = []

  /// `pushes`: where its own jobs go, for a state that must go out once more.
  package init(
    store: any Store, pushes: StageRoute, carrier: any FCMCarrier, time: any TimeSource, log: Log,
    metrics: Metrics, tracer: Tracer? = nil
  ) {
    self.store = store
    self.pushes = pushes
    self.carrier = carrier
    self.time = time
    self.log = log
    self.metrics = FCMMetrics(metrics)
    traces = tracer.map { PushTraces($0, stage: .fcm) }
  }

  /// One job on its way through the sender.
  struct Sending {
    let delivery: Delivery
    let job: FCMJob
    var hasRenewedToken = false
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
        waiting.append(Sending(delivery: delivery, job: try FCMJob(reading: delivery.message)))
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
    for (sending, _) in answered { busy.remove(FCMPlace(sending.job)) }
    answered = []
    return settlements
  }

  private func collectAnswers() {
    for result in carrier.advance() {
      guard let sending = sent.removeValue(forKey: result.number) else { continue }
      answered.append((sending, result))
    }
  }

  /// Counts and settles.
  func settlement(_ delivery: Delivery, _ disposition: Disposition) -> Settlement {
    metrics.count(disposition.outcome)
    return Settlement(delivery, disposition)
  }

  // MARK: Sending

  private func sendWhatMayGo() throws -> [Settlement] {
    let outdone = dropOutdone()
    let chosen = chooseWaiting(atMost: carrier.capacity)
    guard !chosen.isEmpty else { return outdone }
    let now = time.now()
    let known: FCMKnowledge
    do {
      known = try lookAgain(chosen.map(\.job))
    } catch {
      waiting = chosen + waiting
      guard outdone.isEmpty else { return outdone }
      throw error
    }
    return outdone
      + chosen.compactMap { sending in
        switch FCMDecision(sending.job, knowing: known, now: now) {
        case .send:
          send(sending, now: now)
          return nil
        case .drop(let disposition): return settlement(sending.delivery, disposition)
        }
      }
  }

  /// Of states that wait for one place the newest is enough.
  private func dropOutdone() -> [Settlement] {
    var newest: [FCMPlace: Int] = [:]
    for sending in waiting {
      newest[FCMPlace(sending.job), default: 0] = max(
        newest[FCMPlace(sending.job)] ?? 0, sending.job.rev)
    }
    guard newest.count < waiting.count else { return [] }
    var settlements: [Settlement] = []
    waiting.removeAll { sending in
      guard let rev = newest[FCMPlace(sending.job)], rev > sending.job.rev else { return false }
      settlements.append(
        settlement(
          sending.delivery, .superseded(because: "rev \(rev) waits beside \(sending.job.rev)")))
      return true
    }
    return settlements
  }

  private func chooseWaiting(atMost count: Int) -> [Sending] {
    guard count > 0, !waiting.isEmpty else { return [] }
    var chosen: [Sending] = []
    var places: Set<FCMPlace> = []
    waiting = waiting.filter { sending in
      let place = FCMPlace(sending.job)
      guard chosen.count < count, !busy.contains(place), places.insert(place).inserted else {
        return true
      }
      chosen.append(sending)
      return false
    }
    return chosen
  }

  private func lookAgain(_ jobs: [FCMJob]) throws -> FCMKnowledge {
    try store.read { transaction in
      var known = FCMKnowledge(
        registrations: try transaction.fcmRegistrations(jobs.map(\.token)),
        newest: try transaction.activityStates(Array(Set(jobs.map(\.contextKey))))
          .mapValues(\.rev))
      for job in jobs {
        known.delivered[FCMPlace(job)] =
          try transaction.deliveredRev(of: job.contextKey, to: job.token)
      }
      return known
    }
  }

  private func send(_ sending: Sending, now: UnixTime) {
    var sending = sending
    sending.sends += 1
    sending.sentAt = now
    let number = nextNumber
    nextNumber += 1
    busy.insert(FCMPlace(sending.job))
    sent[number] = sending
    carrier.send(FCMRequest(number: number, body: sending.job.body(now: now)))
  }

  // MARK: Giving up

  package func forgetWaiting() { waiting = [] }

  package func giveUpWaiting() -> [Delivery] {
    let rest = waiting.map(\.delivery)
    waiting = []
    return rest
  }
}
