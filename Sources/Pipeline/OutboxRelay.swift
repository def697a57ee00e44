import ServiceRuntime
import Vocabulary

/// Carries events from the outbox to the broker: a row goes only once the broker confirmed it.
///
/// Several relays may run; each leases what it carries. One that dies keeps its lease until it runs
/// out, then another carries the same events, with the same ids. One thread runs a relay.
package final class OutboxRelay {
  /// Events published in one window.
  package static let window = 500
  /// How long events are held; far above what a window takes.
  package static let lease: Duration = .seconds(30)

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

  private let health: Health
  private let onDepth: (Int) -> Void

  private var backoff = Backoff()
  /// The reason, while events cannot be carried: the API serves on, the outbox fills.
  package private(set) var trouble: String? {
    didSet { health.report("outbox", trouble: trouble, effect: .degrades) }
  }

  /// `onDepth`: told how many events wait, each time they are counted.
  package init(
    store: any Store, publisher: any Publisher, eventsExchange: String, time: any TimeSource,
    log: Log, metrics: Metrics, health: Health = Health(),
    onDepth: @escaping (Int) -> Void = { _ in }
  ) {
    self.store = store
    self.onDepth = onDepth
    self.publisher = publisher
    self.eventsExchange = eventsExchange
    self.time = time
    self.log = log
    self.health = health
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
  }

  /// Carries one window.
  ///
  /// - Returns: how many events the broker confirmed.
  /// - Throws: ``BrokerLost``, or ``StoreError``; the events stay and are carried again.
  package func turn() throws -> Int {
    let now = time.now()
    // A look without a lease first: an idle relay must not take the writer's place, and the depth
    // is shown while the broker is away too.
    let waiting = try measured(now)
    try publisher.open()
    try publisher.keepAlive()
    if publisher.isBlocked {
      note("the broker asks publishers to hold (memory or disk alarm)")
      return 0
    }
    note(nil)
    guard waiting > 0 else { return 0 }
    let events = try store.write {
      try $0.leaseEvents(atMost: Self.window, now: now, until: now + Self.lease)
    }
    guard !events.isEmpty else { return 0 }
    let begun = time.elapsed()
    let outcomes: [PublishOutcome]
    do {
      outcomes = try publisher.publish(
        events.map {
          OutgoingMessage(
            exchange: eventsExchange, routingKey: $0.routingKey, message: $0.message)
        })
    } catch {
      try store.write { try $0.releaseEvents(events.map(\.sequence)) }
      throw error
    }
    confirmLatency.observe((time.elapsed() - begun).secondsAndFraction)
    return try settle(events, outcomes)
  }

  private func settle(_ events: [OutboxEvent], _ outcomes: [PublishOutcome]) throws -> Int {
    var confirmed: [Int64] = []
    var kept: [Int64] = []
    for (event, outcome) in zip(events, outcomes) {
      if outcome == .confirmed {
        confirmed.append(event.sequence)
      } else {
        kept.append(event.sequence)
        log.error(
          "event refused, kept in the outbox",
          ["event": event.message.id, "type": event.routingKey, "because": "\(outcome)"])
      }
    }
    try store.write {
      try $0.removeEvents(confirmed)
      try $0.releaseEvents(kept)
    }
    published.add(confirmed.count)
    unpublished.add(kept.count)
    return confirmed.count
  }

  private func measured(_ now: UnixTime) throws -> Int {
    let waiting = try store.read { try $0.outboxDepth() }
    depth.set(Double(waiting.events))
    onDepth(waiting.events)
    oldest.set(waiting.oldest.map { max(0, (now - $0).secondsAndFraction) } ?? 0)
    return waiting.events
  }

  /// Runs until `stop` is raised, then carries what is left within `grace`.
  ///
  /// `wake`: waits until something was committed, at most as long as given.
  package func run(until stop: StopSignal, grace: Duration, wake: (Duration) -> Void) {
    var end: Duration?
    while true {
      if stop.isRaised {
        end = end ?? time.elapsed() + grace
        if time.elapsed() >= end! { break }
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
