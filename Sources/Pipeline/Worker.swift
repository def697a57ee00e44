import ServiceRuntime
import Vocabulary

/// The loop that every stage shares: takes a batch, asks the stage, publishes what it returns with
/// confirms, then acknowledges. While confirms are outstanding the next batch is worked on, as far
/// as the prefetch goes. One thread runs it and owns the broker link.
///
/// Nothing is acknowledged before its effect is stored and what it caused is confirmed, so SIGKILL
/// at any instant loses nothing: what was not acknowledged comes again.
///
/// A stage that fails other than by the store is dealt with as ``StageCalls`` says. One that holds
/// the thread longer than its limit ends the process: what was in hand comes again.
package final class Worker {
  private let route: StageRoute
  private let link: any BrokerLink
  private let stage: any Stage
  private let calls: StageCalls
  private let time: any TimeSource
  private let log: Log
  private var metrics: StageMetrics
  private let health: Health
  /// Nil while nobody traces.
  private var traces: DeliveryTraces?

  private var backoff = Backoff()
  /// Taken from the broker and refused by the stage because the store was away.
  private var offeredAgain: [Delivery] = []
  /// Settled by the stage; what they cause is not confirmed yet.
  private var window = PublishWindow()
  private var spread = 0
  /// A mistake in the program that no single delivery is to blame for; the worker must end.
  package private(set) var defect: String?
  /// The reason, while the link is down.
  package private(set) var brokerTrouble: String? {
    didSet { health.report("broker", trouble: brokerTrouble) }
  }
  /// The reason, while the store is away.
  package private(set) var storeTrouble: String? {
    didSet { health.report("store", trouble: storeTrouble) }
  }

  package init(
    route: StageRoute, link: any BrokerLink, stage: any Stage, time: any TimeSource, log: Log,
    metrics: Metrics, health: Health = Health(), watchdog: Watchdog? = nil, tracer: Tracer? = nil
  ) {
    calls = StageCalls(stage: stage, watchdog: watchdog, log: log)
    self.route = route
    self.link = link
    self.stage = stage
    self.time = time
    self.log = log
    self.health = health
    self.metrics = StageMetrics(metrics, stage: stage.name)
    traces = tracer.map { DeliveryTraces($0, stage: stage.name, queue: route.queue, time: time) }
  }

  /// Deliveries taken from the broker and not settled, and messages that are still to go out.
  package var inHand: Int { stage.inHand + offeredAgain.count + window.count }

  /// What a turn waits for.
  package var descriptors: [(descriptor: Int32, events: Int16)] {
    link.descriptors.map { ($0, Poll.readable) } + stage.descriptors
  }

  // MARK: One turn

  /// Does what can be done now, without waiting for more to come.
  ///
  /// `receiving`: false while draining: finishes what is in hand and takes nothing new.
  /// - Returns: whether anything happened.
  package func turn(receiving: Bool = true) throws(BrokerLost) -> Bool {
    try link.open()
    try link.keepAlive()
    // First, so that the broker sends on while the stage works.
    var progress = try concludeConfirmed()
    let received = receiving ? try receive() : offeredAgain
    // Whatever the stage could not store stays with us or with it, unacknowledged.
    let offered = calls.offer(received)
    offeredAgain = offered.left
    let advanced = calls.advance()
    defect = defect ?? advanced.defect
    note(storeTrouble: advanced.storeTrouble ?? offered.storeTrouble)
    progress += try settle(offered.settlements + advanced.settlements)
    try publish()
    progress += try concludeConfirmed()
    if brokerTrouble != nil {
      log.info("broker is back")
      brokerTrouble = nil
    }
    backoff.reset()
    // What is refused again and again is no reason to go on without a pause.
    return progress > 0 || (!received.isEmpty && offeredAgain.isEmpty)
  }

  private func note(storeTrouble trouble: String?) {
    guard trouble != storeTrouble else { return }
    if let trouble, storeTrouble == nil { log.warning("store is away", ["because": trouble]) }
    if trouble == nil { log.info("store is back") }
    storeTrouble = trouble
  }

  private func receive() throws(BrokerLost) -> [Delivery] {
    if !offeredAgain.isEmpty { return offeredAgain }
    let room = min(stage.capacity, route.prefetch - inHand)
    guard room > 0 else { return [] }
    let deliveries = try link.receive(atMost: room)
    metrics.took(deliveries, now: time.now())
    traces?.receive(deliveries)
    return deliveries
  }

  /// Forgets what the lost connection will deliver again, and says how long to wait.
  package func lost(_ loss: BrokerLost) -> Duration {
    if brokerTrouble == nil { log.warning("broker is away", ["because": loss.reason]) }
    brokerTrouble = loss.reason
    link.close()
    stage.forgetWaiting()
    offeredAgain = []
    window.lost()
    traces?.forget()
    return backoff.next()
  }

  // MARK: Settling

  /// - Returns: how many were settled for good; the others wait for confirms.
  private func settle(_ settlements: [Settlement]) throws(BrokerLost) -> Int {
    let now = time.now()
    var unawaited: [Settlement] = []
    for settlement in settlements {
      // A delivery of an earlier connection comes again on this one; its copies must not go out
      // too.
      guard settlement.delivery.tag.generation == link.generation else {
        if !stage.isRepeatable { window.add(owed: settlement.outgoing) }
        continue
      }
      let messages = messages(for: settlement, now: now)
      if messages.isEmpty {
        unawaited.append(settlement)
      } else {
        window.add(settlement, messages, owing: !stage.isRepeatable)
      }
    }
    // What waits for no confirm is not delayed by anything that the broker does to publishers.
    try conclude(unawaited)
    return unawaited.count
  }

  /// Sends what may go now.
  private func publish() throws(BrokerLost) {
    while !link.isBlocked {
      let next = window.next(at: time.elapsed())
      guard !next.isEmpty else { return }
      let numbers = try link.send(next)
      window.sent(numbers)
      metrics.published.add(numbers.count)
      if numbers.count < next.count { return }
    }
  }

  /// - Returns: how many answers of the broker there were.
  private func concludeConfirmed() throws(BrokerLost) -> Int {
    let answers = link.takeAnswers()
    guard !answers.isEmpty else { return 0 }
    let (confirmed, refused) = window.answered(answers, at: time.elapsed())
    for refusal in refused {
      log.error(
        "publish refused, kept in hand",
        [
          "message": refusal.delivery?.message.id ?? "of a lost connection",
          "because": "\(refusal.outcome)",
        ])
      metrics.publishRefused.add()
    }
    try conclude(confirmed)
    return answers.count
  }

  private func conclude(_ settlements: [Settlement]) throws(BrokerLost) {
    guard !settlements.isEmpty else { return }
    for settlement in settlements { count(settlement) }
    let back = settlements.filter { $0.disposition == .handBack }
    let done = back.isEmpty ? settlements : settlements.filter { $0.disposition != .handBack }
    try link.acknowledge(done.map(\.delivery.tag))
    if !back.isEmpty { try link.handBack(back.map(\.delivery.tag)) }
  }

  private func messages(for settlement: Settlement, now: UnixTime) -> [OutgoingMessage] {
    spread &+= 1
    let caused =
      traces?.continuing(settlement.delivery, settlement.outgoing) ?? settlement.outgoing
    switch settlement.disposition {
    case .retry(let least, let reason):
      let copy = route.retryCopy(
        of: settlement.delivery, notBefore: least, because: reason, now: now, spread: spread)
      return caused + [copy]
    case .park(let least, let mayHaveGoneOut):
      let copy = route.parkedCopy(
        of: settlement.delivery, notBefore: least, mayHaveGoneOut: mayHaveGoneOut, spread: spread)
      return caused + [copy]
    case .dead(let reason):
      let copy = route.deadCopy(of: settlement.delivery, because: reason, now: now)
      return caused + [copy]
    case .done, .stale, .superseded, .expired, .handBack:
      return caused
    }
  }

  private func count(_ settlement: Settlement) {
    metrics.outcome(settlement.disposition.outcome)
    traces?.settle(settlement)
    let message = settlement.delivery.message
    switch settlement.disposition {
    case .dead(let reason):
      log.error("dead", ["message": message.id, "type": message.type, "because": reason])
    case .retry(_, let reason):
      log.warning(
        "retry",
        [
          "message": message.id, "type": message.type, "because": reason,
          "attempt": "\(settlement.delivery.attempt)",
        ])
    case .superseded(let reason):
      log.debug("superseded", ["message": message.id, "because": reason])
    case .done, .stale, .expired, .park, .handBack: break
    }
  }

  // MARK: The end

  /// Stops receiving, finishes what is in hand within `grace`, hands back the rest.
  package func drain(grace: Duration, wait: (Duration) -> Void) {
    let end = time.elapsed() + grace
    do {
      try link.stopReceiving()
      while inHand > 0, defect == nil, time.elapsed() < end {
        if try !turn(receiving: false) { wait(.milliseconds(50)) }
      }
      let rest = stage.giveUpWaiting() + offeredAgain + window.deliveries
      try link.handBack(rest.map(\.tag))
      log.info("drained", ["handed_back": "\(rest.count)"])
    } catch {
      log.warning("broker is away while draining", ["because": error.reason])
    }
    link.close()
  }
}
