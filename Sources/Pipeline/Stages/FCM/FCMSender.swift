import Foundation
import Pushes
import ServiceRuntime
import Vocabulary

/// Stage `fcm`: sends cards' states to Android phones, and does about each answer what
/// ``Pushes/FCMRemedy`` says.
///
/// States of one card for one phone go out one after the other and only the newest: FCM keeps what
/// came last for a phone that is away. A job that comes twice has one effect, because each message
/// is a whole state with its rev. The project is one lane: while FCM refuses it or is down, nothing
/// goes out but a probe, and the jobs wait uncounted.
package final class FCMSender: QueueingSender {
  package let name = StageName.fcm
  /// That an older state came late, and what it makes necessary, is learned from its answer alone.
  package let isRepeatable = false

  let store: any Store
  let pushes: StageRoute
  let carrier: any FCMCarrier
  let lane: Lane
  let time: any TimeSource
  let log: Log
  let metrics: FCMMetrics
  let laneBoard: LaneBoard
  /// Nil while nobody traces.
  let traces: PushTraces?

  var queue = SendingQueue<Sending, FCMResult>()
  var memory = FCMMemory()
  /// Said and counted once the transaction that it speaks of is stored.
  var afterCommit: [() -> Void] = []

  /// `pushes`: where its own jobs go, for a state that must go out once more. `project`: whose
  /// phones they are. `lanes`: told which are open.
  package init(
    store: any Store, pushes: StageRoute, carrier: any FCMCarrier, project: String,
    time: any TimeSource, log: Log, metrics: Metrics, tracer: Tracer? = nil,
    lanes: LaneBoard = LaneBoard()
  ) {
    self.store = store
    self.pushes = pushes
    self.carrier = carrier
    lane = Lane(fcmProject: project)
    self.time = time
    self.log = log
    self.metrics = FCMMetrics(metrics)
    laneBoard = lanes
    traces = tracer.map { PushTraces($0, stage: .fcm) }
  }

  struct Sending: PlacedSending {
    let delivery: Delivery
    let job: FCMJob
    var hasRenewedToken = false
    /// Went out on an open lane. Only such a one closes it: what was on its way when FCM asked for
    /// a pause says nothing of afterwards.
    var isProbe = false
    /// How often it went out on this visit.
    var sends = 0
    var sentAt = UnixTime(milliseconds: 0)

    var place: FCMPlace { FCMPlace(job) }

    /// An earlier visit, or another sender that died, may have sent it without hearing of it.
    var mayHaveGoneOut: Bool {
      delivery.mayHaveGoneOut || delivery.attempt > 1
        || delivery.message.integer(RetryHeader.replays) != nil
    }
  }

  package var descriptors: [(descriptor: Int32, events: Int16)] { carrier.descriptors }

  func read(_ delivery: Delivery) throws(UnreadableJob) -> Sending {
    Sending(delivery: delivery, job: try FCMJob(reading: delivery.message))
  }

  func count(_ outcome: String) { metrics.count(outcome) }

  func showInFlight() { metrics.inFlight.set(Double(carrier.inFlight)) }

  func collectAnswers() {
    for result in carrier.advance() { queue.answer(result.number, result) }
  }

  // MARK: Sending

  func sendWhatMayGo() throws {
    queue.dropOutdone(by: \.job.rev, butFor: \.mayHaveGoneOut)
    let now = time.now()
    let (going, parked) = choose(now: now)
    guard !going.isEmpty || !parked.isEmpty else { return }
    let known: FCMKnowledge
    do {
      known = try lookAgain((going + parked).map(\.job))
    } catch {
      memory.lanes.undecided(on: lane, now: now)
      queue.putBack(going + parked)
      throw error
    }
    for sending in going {
      switch FCMDecision(sending.job, knowing: known, now: now) {
      case .send: send(sending, now: now)
      case .drop(let disposition):
        memory.lanes.undecided(on: lane, now: now)
        queue.drop(sending, Self.disposition(of: sending, settled: disposition))
      }
    }
    let wait = memory.lanes.parkTime(on: lane, now: now)
    for sending in parked {
      switch FCMDecision(sending.job, knowing: known, now: now) {
      case .send: queue.drop(sending, .park(notBefore: wait))
      // What is no longer worth sending is not parked.
      case .drop(let disposition):
        queue.drop(sending, Self.disposition(of: sending, settled: disposition))
      }
    }
  }

  /// What goes now, and what gives up its place: behind an open lane all but a few, of which one at
  /// a time is a probe.
  private func choose(now: UnixTime) -> (going: [Sending], parked: [Sending]) {
    guard memory.lanes.isOpen(lane) else { return (queue.choose(atMost: carrier.capacity), []) }
    var probe = queue.choose(atMost: min(1, carrier.capacity))
    if !probe.isEmpty, memory.lanes.permission(on: lane, now: now) == .wait {
      queue.putBack(probe)
      probe = []
    }
    return (probe, queue.takeOut(butFirst: LaneBook.probesInHandMax))
  }

  private func lookAgain(_ jobs: [FCMJob]) throws -> FCMKnowledge {
    try store.read { transaction in
      var known = FCMKnowledge(
        registrations: try transaction.fcmRegistrations(jobs.map(\.token)),
        newest: try transaction.activityStates(Array(Set(jobs.map(\.contextKey))))
          .mapValues(\.rev),
        dismissed: try transaction.dismissed(among: jobs.map(\.contextKey)))
      for job in jobs {
        known.delivered[FCMPlace(job)] =
          try transaction.deliveredRev(of: job.contextKey, to: job.token)
      }
      return known
    }
  }

  private func send(_ sending: Sending, now: UnixTime) {
    var sending = sending
    sending.isProbe = memory.lanes.isOpen(lane)
    sending.sends += 1
    sending.sentAt = now
    carrier.send(FCMRequest(number: queue.send(sending), body: sending.job.body(now: now)))
  }
}
