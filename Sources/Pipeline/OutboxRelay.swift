import ServiceRuntime
import Vocabulary

/// Carries events from the outbox to the broker: a row goes only once the broker confirmed it.
///
/// Several relays may run; each leases what it carries. One that dies keeps its lease until it runs
/// out, then another carries the same events, with the same ids. Events of one key (a session) go
/// one after the other: the next only once the broker confirmed the one before. What the broker
/// refuses again and again while it takes others is parked: it stays, is tried now and then, and
/// holds nothing back. One thread runs a relay.
package final class OutboxRelay {
  /// Events published in one window.
  package static let window = 500
  /// How long events are held; far above what a window takes.
  package static let lease: Duration = .seconds(30)
  /// No further part of a window is begun later than this: with the wait for its confirms the lease
  /// still holds.
  package static let publishingMax: Duration = .seconds(5)
  /// Refusals before an event is parked: some four minutes.
  package static let triesMax = 20
  /// How long a parked event waits for its next try.
  package static let parkedWait: Duration = .seconds(300)
  /// The wait after the first refusal, doubled by each more up to the longest.
  static let refusedWaitLeast: Duration = .milliseconds(500)
  static let refusedWaitMost: Duration = .seconds(15)

  private let store: any Store
  private let publisher: any Publisher
  private let eventsExchange: String
  private let time: any TimeSource
  private let log: Log
  private let published: Counter
  private let unpublished: Counter
  private let confirmLatency: Histogram
  private let depth: Gauge
  private let oldest: Gauge
  private let parked: Gauge

  private let health: Health
  private let tracer: Tracer?
  private let onDepth: (Int) -> Void

  private var backoff = Backoff()
  /// The reason, while events cannot be carried: the API serves on, the outbox fills.
  package private(set) var trouble: String? {
    didSet { health.report("outbox", trouble: trouble, effect: .degrades) }
  }

  /// `tracer`: nil while nobody traces. `onDepth`: told how many events wait, each time they are
  /// counted.
  package init(
    store: any Store, publisher: any Publisher, eventsExchange: String, time: any TimeSource,
    log: Log, metrics: Metrics, health: Health = Health(),
    tracer: Tracer? = nil, onDepth: @escaping (Int) -> Void = { _ in }
  ) {
    self.store = store
    self.onDepth = onDepth
    self.publisher = publisher
    self.eventsExchange = eventsExchange
    self.time = time
    self.log = log
    self.health = health
    self.tracer = tracer
    published = metrics.counter(
      "lockstep_events_published_total", help: "Events confirmed by the broker.")
    unpublished = metrics.counter(
      "lockstep_events_publish_refused_total",
      help: "Events that the broker returned or refused; they stay in the outbox.")
    confirmLatency = metrics.histogram(
      "lockstep_confirm_latency_seconds", help: "Publishing a window until its last confirm.",
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
    depth = metrics.gauge("lockstep_outbox_events", help: "Events that wait for a confirm.")
    oldest = metrics.gauge(
      "lockstep_outbox_oldest_seconds", help: "Age of the oldest event in the outbox.")
    parked = metrics.gauge(
      "lockstep_outbox_parked_events",
      help: "Events that the broker refused again and again; tried now and then.")
  }

  /// Carries one window.
  ///
  /// - Returns: how many events the broker confirmed.
  /// - Throws: ``BrokerLost``, or ``StoreError``; the events stay and are carried again.
  package func turn() throws -> Int {
    let now = time.now()
    // A look without a lease first: an idle relay must not take the writer's place, and the depth
    // is shown while the broker is away too.
    let hasWork = try measured(now)
    try publisher.open()
    try publisher.keepAlive()
    if publisher.isBlocked {
      note("the broker asks publishers to hold (memory or disk alarm)")
      return 0
    }
    note(nil)
    guard hasWork else { return 0 }
    let events = try store.write {
      try $0.leaseEvents(atMost: Self.window, now: now, until: now + Self.lease)
    }
    guard !events.isEmpty else { return 0 }
    return try carry(events)
  }

  // MARK: Publishing

  /// What became of leased events.
  private struct Carried {
    var confirmed: [OutboxEvent] = []
    var refused: [OutboxEvent] = []
    /// Not published, or not answered for.
    var left: [OutboxEvent] = []
  }

  private func carry(_ events: [OutboxEvent]) throws -> Int {
    let begun = time.elapsed()
    var carried = Carried()
    var stuckKeys: Set<String> = []
    var loss: BrokerLost?
    for wave in Self.waves(events) {
      let going = wave.filter { event in !(event.orderKey.map(stuckKeys.contains) ?? false) }
      carried.left += wave.filter { event in event.orderKey.map(stuckKeys.contains) ?? false }
      guard loss == nil, time.elapsed() - begun < Self.publishingMax else {
        carried.left += going
        continue
      }
      do throws(BrokerLost) {
        for (event, outcome) in zip(going, try publisher.publish(going.map(outgoing))) {
          note(event, outcome, in: &carried)
          if outcome != .confirmed, let key = event.orderKey { stuckKeys.insert(key) }
        }
      } catch {
        loss = error
        carried.left += going
      }
    }
    confirmLatency.observe((time.elapsed() - begun).secondsAndFraction)
    try settle(carried)
    if let loss { throw loss }
    return carried.confirmed.count
  }

  /// Parts of a window that may be in flight at once: no key twice in a part.
  static func waves(_ events: [OutboxEvent]) -> [[OutboxEvent]] {
    var waves: [[OutboxEvent]] = []
    var seen: [String: Int] = [:]
    for event in events {
      let place = event.orderKey.map { seen[$0, default: 0] } ?? 0
      if let key = event.orderKey { seen[key] = place + 1 }
      if place == waves.count { waves.append([]) }
      waves[place].append(event)
    }
    return waves
  }

  private func outgoing(_ event: OutboxEvent) -> OutgoingMessage {
    let outgoing = OutgoingMessage(
      exchange: eventsExchange, routingKey: event.routingKey, message: event.message)
    return tracer == nil ? outgoing : event.step.map(outgoing.continuing) ?? outgoing
  }

  /// One step per event: from its commit to the broker's confirm.
  private func trace(_ events: [OutboxEvent], now: UnixTime) {
    guard let tracer else { return }
    for event in events {
      guard let step = event.step else { continue }
      tracer.record(
        Span(
          "publish \(eventsExchange)", .producer, step, parent: event.message.trace,
          begun: event.storedAt, lasted: now - event.storedAt,
          attributes: [
            "messaging.system": .text("rabbitmq"), "messaging.operation.type": .text("send"),
            "messaging.destination.name": .text(eventsExchange),
            "messaging.rabbitmq.destination.routing_key": .text(event.routingKey),
            "messaging.message.id": .text(event.message.id),
          ]),
        of: step)
    }
  }

  private func note(_ event: OutboxEvent, _ outcome: PublishOutcome, in carried: inout Carried) {
    switch outcome {
    case .confirmed: carried.confirmed.append(event)
    case .held: carried.left.append(event)
    case .returned, .refused:
      carried.refused.append(event)
      log.error(
        "event refused, kept in the outbox",
        ["event": event.message.id, "type": event.routingKey, "because": "\(outcome)"])
    }
  }

  private func settle(_ carried: Carried) throws {
    let now = time.now()
    // When nothing goes, a queue is full or the broker is ill: no event is to blame.
    let parks = { (event: OutboxEvent) in
      !carried.confirmed.isEmpty && event.tries + 1 >= Self.triesMax
    }
    try store.write { rows in
      try rows.removeEvents(carried.confirmed.map(\.sequence))
      try rows.releaseEvents(carried.left.map(\.sequence))
      for event in carried.refused {
        let wait = parks(event) ? Self.parkedWait : Self.refusedWait(tries: event.tries)
        try rows.postponeEvents([event.sequence], until: now + wait, parking: parks(event))
      }
    }
    for event in carried.refused where parks(event) {
      log.error("event parked", ["event": event.message.id, "type": event.routingKey])
    }
    trace(carried.confirmed, now: now)
    published.add(carried.confirmed.count)
    unpublished.add(carried.refused.count)
  }

  /// `tries`: refusals before this one.
  static func refusedWait(tries: Int) -> Duration {
    min(refusedWaitLeast * Double(1 << min(max(tries, 0), 10)), refusedWaitMost)
  }

  /// - Returns: whether an event may be carried now; what is parked or held by others may not.
  private func measured(_ now: UnixTime) throws -> Bool {
    let (waiting, parked, hasWork) = try store.read { rows in
      let waiting = try rows.outboxDepth()
      return (
        waiting, try rows.parkedEvents(), try waiting.events > 0 && rows.hasFreeEvents(now: now)
      )
    }
    self.parked.set(Double(parked))
    health.report(
      "outbox-parked", trouble: parked > 0 ? "\(parked) events are refused again and again" : nil,
      effect: .degrades)
    depth.set(Double(waiting.events))
    onDepth(waiting.events)
    oldest.set(waiting.oldest.map { max(0, (now - $0).secondsAndFraction) } ?? 0)
    return hasWork
  }

  /// Runs until `stop` is raised, then carries what is left within `grace`.
  ///
  /// `wake`: waits until something was committed, at most as long as given.
  package func run(until stop: StopSignal, grace: Duration, wake: (Duration) -> Void) {
    var end: Duration?
    while true {
      if stop.isRaised {
        let last = end ?? time.elapsed() + grace
        end = last
        if time.elapsed() >= last { break }
      }
      do {
        if try turn() > 0 { continue }
        backoff.reset()
        if stop.isRaised { break }
        wake(.milliseconds(500))
      } catch {
        if error is BrokerLost { publisher.close() }
        note("\(error)")
        if stop.isRaised { break }
        stop.wait(atMost: backoff.next())
      }
    }
    publisher.close()
  }

  private func note(_ trouble: String?) {
    guard trouble != self.trouble else { return }
    if let trouble, self.trouble == nil { log.warning("outbox waits", ["because": trouble]) }
    if trouble == nil { log.info("outbox flows again") }
    self.trouble = trouble
  }
}

extension OutboxEvent {
  /// The step that carrying it is; the same at each try.
  fileprivate var step: TraceContext? { message.trace?.child("outbox", message.id) }
}
