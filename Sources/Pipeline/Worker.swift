import ServiceRuntime
import Vocabulary

/// The loop that every stage shares: takes a batch, asks the stage, publishes what it returns with
/// confirms, then acknowledges. One thread runs it and owns the broker link.
///
/// Nothing is acknowledged before its effect is stored and what it caused is confirmed, so SIGKILL
/// at any instant loses nothing: what was not acknowledged comes again.
package final class Worker {
  private let route: StageRoute
  private let link: any BrokerLink
  private let stage: any Stage
  private let time: any TimeSource
  private let log: Log
  private let metrics: StageMetrics
  private let health: Health

  private var backoff = Backoff()
  /// Taken from the broker and refused by the stage because the store was away.
  private var offeredAgain: [Delivery] = []
  /// Settled by the stage; what they cause is not confirmed yet.
  private var unconfirmed: [Settlement] = []
  private var spread = 0
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
    metrics: Metrics, health: Health = Health()
  ) {
    self.route = route
    self.link = link
    self.stage = stage
    self.time = time
    self.log = log
    self.health = health
    self.metrics = StageMetrics(metrics, stage: stage.name)
  }

  /// Deliveries taken from the broker and not settled.
  package var inHand: Int { stage.inHand + offeredAgain.count + unconfirmed.count }

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
    var settlements = unconfirmed
    unconfirmed = []
    let received = receiving ? try receive() : offeredAgain
    var trouble: String?
    // Whatever the stage could not store stays with us or with it, unacknowledged.
    do {
      if !received.isEmpty { settlements += try stage.take(received) }
      offeredAgain = []
    } catch {
      trouble = "\(error)"
      offeredAgain = received
    }
    do {
      settlements += try stage.advance()
    } catch {
      trouble = "\(error)"
    }
    note(storeTrouble: trouble)
    let settled = try settle(settlements)
    if brokerTrouble != nil {
      log.info("broker is back")
      brokerTrouble = nil
    }
    backoff.reset()
    // What is refused again and again is no reason to go on without a pause.
    return settled > 0 || (!received.isEmpty && offeredAgain.isEmpty)
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
    metrics.received.add(deliveries.count)
    return deliveries
  }

  /// Forgets what the lost connection will deliver again, and says how long to wait.
  package func lost(_ loss: BrokerLost) -> Duration {
    if brokerTrouble == nil { log.warning("broker is away", ["because": loss.reason]) }
    brokerTrouble = loss.reason
    link.close()
    stage.forgetWaiting()
    offeredAgain = []
    unconfirmed = []
    return backoff.next()
  }

  // MARK: Settling

  /// - Returns: how many were settled; the others stay in hand.
  private func settle(_ settlements: [Settlement]) throws(BrokerLost) -> Int {
    // A delivery of an earlier connection comes again on this one; its copies must not go out too.
    var current = settlements.filter { $0.delivery.tag.generation == link.generation }
    if link.isBlocked {
      // The broker takes acknowledgements while it blocks publishers.
      unconfirmed += current.filter(\.publishes)
      current.removeAll(where: \.publishes)
    }
    guard !current.isEmpty else { return 0 }
    let now = time.now()
    let outgoing = current.map { messages(for: $0, now: now) }
    let all = outgoing.flatMap(\.self)
    var outcomes: ArraySlice<PublishOutcome> = []
    if !all.isEmpty {
      outcomes = try link.publish(all)[...]
      metrics.published.add(all.count)
    }
    var acknowledged: [DeliveryTag] = []
    var handedBack: [DeliveryTag] = []
    for (settlement, messages) in zip(current, outgoing) {
      let answers = outcomes.prefix(messages.count)
      outcomes = outcomes.dropFirst(messages.count)
      guard answers.allSatisfy({ $0 == .confirmed }) else {
        hold(settlement, answers)
        continue
      }
      if settlement.disposition == .handBack {
        handedBack.append(settlement.delivery.tag)
      } else {
        acknowledged.append(settlement.delivery.tag)
      }
      count(settlement)
    }
    try link.acknowledge(acknowledged)
    try link.handBack(handedBack)
    return acknowledged.count + handedBack.count
  }

  private func messages(for settlement: Settlement, now: UnixTime) -> [OutgoingMessage] {
    spread &+= 1
    switch settlement.disposition {
    case .retry(let least, let reason):
      let copy = route.retryCopy(
        of: settlement.delivery, notBefore: least, because: reason, now: now, spread: spread)
      return settlement.outgoing + [copy]
    case .park(let least):
      let copy = route.parkedCopy(of: settlement.delivery, notBefore: least, spread: spread)
      return settlement.outgoing + [copy]
    case .dead(let reason):
      let copy = route.deadCopy(of: settlement.delivery, because: reason, now: now)
      return settlement.outgoing + [copy]
    case .done, .stale, .superseded, .expired, .handBack:
      return settlement.outgoing
    }
  }

  /// The broker would not take what this one causes (a queue full, a binding gone): it stays in
  /// hand and is published again.
  private func hold(_ settlement: Settlement, _ answers: ArraySlice<PublishOutcome>) {
    let refusal = answers.first { $0 != .confirmed }
    log.error(
      "publish refused, kept in hand",
      ["message": settlement.delivery.message.id, "because": "\(refusal ?? .confirmed)"])
    metrics.publishRefused.add()
    unconfirmed.append(settlement)
  }

  private func count(_ settlement: Settlement) {
    metrics.outcome(settlement.disposition.outcome)
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
      while inHand > 0, time.elapsed() < end {
        if try !turn(receiving: false) { wait(.milliseconds(50)) }
      }
      let rest = stage.giveUpWaiting() + offeredAgain + unconfirmed.map(\.delivery)
      try link.handBack(rest.map(\.tag))
      log.info("drained", ["handed_back": "\(rest.count)"])
    } catch {
      log.warning("broker is away while draining", ["because": error.reason])
    }
    link.close()
  }
}
