import Foundation
import Pushes
import ServiceRuntime
import Vocabulary

/// Stage `apns`: sends push jobs, and does about each answer what ``Pushes/Remedy`` says.
///
/// Before a push goes out the store is asked once more whether it is still the newest; only then it
/// is stamped. Pushes to one token go out one after the other, so that none can overtake another.
package final class APNsSender: Stage {
  package let name = StageName.apns
  /// That a push came late, and what it makes necessary, is learned from its answer alone.
  package let isRepeatable = false

  let store: any Store
  let pushes: StageRoute
  let transport: any PushTransport
  let time: any TimeSource
  let log: Log
  var metrics: PushMetrics
  let laneBoard: LaneBoard
  /// Nil while nobody traces.
  let traces: PushTraces?
  private let bundleID: String

  /// Not sent yet, what goes next first.
  var waiting: [Sending] = []
  /// Sent, by request number.
  private var sent: [UInt64: Sending] = [:]
  private(set) var busyTokens: Set<PushToken> = []
  /// Answered; not stored yet.
  private var answered: [(Sending, PushOutcome)] = []
  /// Settled without being sent; not stored yet.
  private var dropped: [Drop] = []
  private var nextNumber: UInt64 = 1
  private var priorities: PushPriority
  var memory = SenderMemory()
  /// Learns of starts once they are stored: a copy of it for each batch would cost too much.
  var starts = StartLimiter()
  /// Said and counted once the transaction that it speaks of is stored.
  var afterCommit: [(PushMetrics) -> Void] = []
  var guards: [Lane: MassGuard<PushToken>] = [:]

  /// Of a start, by the sender that is about to send it; above any request deadline.
  static let startHold = Hold(lasts: .seconds(30))
  /// How long a job may stay in hand behind an open lane before it goes back to the queue: well
  /// below RabbitMQ's consumer timeout of 30 minutes.
  private static let heldMax: Duration = .seconds(600)

  /// `pushes`: its own queue, for what an answer makes necessary. `lanes`: told which are open.
  package init(
    store: any Store, pushes: StageRoute, transport: any PushTransport, bundleID: String,
    time: any TimeSource, log: Log, metrics: Metrics, priorities: PushPriority = PushPriority(),
    tracer: Tracer? = nil, lanes: LaneBoard = LaneBoard()
  ) {
    self.store = store
    self.pushes = pushes
    self.transport = transport
    self.bundleID = bundleID
    self.time = time
    self.log = log
    self.metrics = PushMetrics(metrics)
    self.priorities = priorities
    laneBoard = lanes
    traces = tracer.map { PushTraces($0, stage: .apns) }
  }

  /// What does not change on a job's way. A class, as the things in it.
  final class Work {
    let delivery: Delivery
    let job: PushJob
    let receivedAt: Duration

    init(_ delivery: Delivery, _ job: PushJob, receivedAt: Duration) {
      self.delivery = delivery
      self.job = job
      self.receivedAt = receivedAt
    }
  }

  /// One job on its way through the sender.
  struct Sending {
    let work: Work
    var environment: PushEnvironment
    var topic: String
    var isProven = false
    var triedOtherEnvironment = false
    var renewedProviderToken = false
    /// How often it went out on this visit.
    var sends = 0
    /// It went out on this visit, and nobody heard whether APNs took it.
    var isUnheard = false
    var sentAt = UnixTime(milliseconds: 0)
    /// As ``PushStanding/place`` said before the last send.
    var tokenPlace: Int64?

    var delivery: Delivery { work.delivery }
    var job: PushJob { work.job }
    var receivedAt: Duration { work.receivedAt }
    var lane: Lane { Lane(environment: environment, topic: topic) }

    /// As it was before it went to Apple's other service.
    var atHome: Sending {
      guard triedOtherEnvironment else { return self }
      var next = self
      next.environment = environment == .production ? .sandbox : .production
      next.triedOtherEnvironment = false
      return next
    }

    /// Once more, to Apple's other service.
    var inOtherEnvironment: Sending {
      var next = self
      next.environment = environment == .production ? .sandbox : .production
      next.triedOtherEnvironment = true
      return next
    }

    /// Once more, for nobody answered.
    var unheard: Sending {
      var next = self
      next.isUnheard = true
      return next
    }

    var withRenewedProviderToken: Sending {
      var next = self
      next.renewedProviderToken = true
      return next
    }

    var circumstances: PushCircumstances {
      PushCircumstances(
        isLiveActivity: job.isLiveActivity, isProven: isProven,
        triedOtherEnvironment: triedOtherEnvironment, isBroadcast: job.isBroadcast)
    }
  }

  package var inHand: Int { waiting.count + sent.count + answered.count + dropped.count }
  package var capacity: Int { .max }
  package var descriptors: [(descriptor: Int32, events: Int16)] { transport.descriptors }

  package func take(_ deliveries: [Delivery]) throws -> [Settlement] {
    var settlements: [Settlement] = []
    for delivery in deliveries {
      do {
        let job = try PushJob(reading: delivery.message)
        waiting.append(
          Sending(
            work: Work(delivery, job, receivedAt: time.elapsed()), environment: job.environment,
            topic: job.topic(bundle: bundleID)))
      } catch {
        settlements.append(Settlement(delivery, .dead(because: "\(error)")))
      }
    }
    return settlements
  }

  package func advance() throws -> [Settlement] {
    var settlements = handBackHeldTooLong()
    do {
      // An answer that is here already must not wait for the next event on a descriptor.
      repeat {
        collectAnswers()
        settlements += try settleDecided()
        try sendWhatMayGo()
        collectAnswers()
      } while !answered.isEmpty || !dropped.isEmpty
    } catch {
      // What was settled above is stored and must be acknowledged; the next turn meets the store
      // again.
      if settlements.isEmpty { throw error }
    }
    metrics.inFlight.set(Double(transport.inFlight))
    return settlements
  }

  private func settleDecided() throws -> [Settlement] {
    guard !answered.isEmpty || !dropped.isEmpty else { return [] }
    let settlements = try settle(answered, dropped)
    answered = []
    dropped = []
    return settlements
  }

  private func collectAnswers() {
    for result in transport.advance() {
      guard let sending = sent.removeValue(forKey: result.number) else { continue }
      busyTokens.remove(sending.job.token)
      answered.append((sending, result.outcome))
    }
  }

  // MARK: Sending

  private func sendWhatMayGo() throws {
    let now = time.now()
    let choice = chooseWaiting(atMost: transport.capacity, now: now)
    guard !choice.isEmpty else { return }
    let known: Looks
    do {
      known = try lookAgain(choice, now: now)
    } catch {
      for sending in choice.going { memory.lanes.undecided(on: sending.lane, now: now) }
      waiting = choice.all + waiting
      throw error
    }
    dropped += choice.drops(knowing: known.parked, now: now).map {
      Drop($0.sending, disposition(of: $0.sending, dropped: $0.disposition))
    }
    // The look may have waited for its turn, and the stamp must not be older than what others sent
    // meanwhile.
    let leaving = time.now()
    for (sending, known) in zip(choice.going, known.going) {
      switch SendDecision(sending.job, knowing: known, now: now) {
      case .send(let registration):
        send(sending, to: registration, at: known.standing.place, now: leaving)
      case .drop(let disposition):
        memory.lanes.undecided(on: sending.lane, now: now)
        dropped.append(
          Drop(
            work: sending.work,
            settlement: settlement(of: sending, dropped: disposition, knowing: known, now: now)))
      }
    }
  }

  private func send(
    _ sending: Sending, to registration: Registration, at place: Int64?, now: UnixTime
  ) {
    var sending = sending
    sending.tokenPlace = place
    let job = sending.job
    // The job may be older than what was learned of the token's environment.
    sending.isProven =
      registration.provenAt != nil && registration.environment == sending.environment
    sending.sends += 1
    sending.sentAt = now
    let body =
      job.isLiveActivity ? LiveActivityPayload.stamped(job.payload, at: now) : job.payload
    let number = nextNumber
    nextNumber += 1
    sent[number] = sending
    busyTokens.insert(job.token)
    transport.send(
      PushRequest(
        number: number, token: job.token, environment: sending.environment, topic: sending.topic,
        pushType: job.pushType,
        priority: priorities.next(
          for: job.event, hasAlert: job.hasAlert, to: job.token,
          frequentPushesEnabled: registration.frequentPushesEnabled, now: now),
        expiration: job.expiration(now: now), collapseID: job.collapseID, apnsID: job.id,
        body: body, isProven: sending.isProven, deadline: job.deadline,
        broadcast: job.broadcastAddress(bundle: bundleID)))
  }

  // MARK: Giving up

  package func forgetWaiting() {
    waiting = []
    dropped = []
  }

  package func giveUpWaiting() -> [Delivery] {
    let rest = waiting.map(\.delivery) + dropped.map(\.work.delivery)
    forgetWaiting()
    return rest
  }

  private func handBackHeldTooLong() -> [Settlement] {
    let now = time.elapsed()
    let old = waiting.filter { now - $0.receivedAt > Self.heldMax }
    guard !old.isEmpty else { return [] }
    waiting.removeAll { now - $0.receivedAt > Self.heldMax }
    return old.map { Settlement($0.delivery, .handBack) }
  }
}
