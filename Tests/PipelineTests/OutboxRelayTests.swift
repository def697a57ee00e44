import Foundation
import ServiceRuntime
import Sessions
import TestSupport
import Testing
import Vocabulary

@testable import Pipeline

@Suite struct OutboxRelayTests {
  private let time = ManualTime()
  private let storeSwitch = StoreSwitch()
  private let store: InMemoryStore
  private let broker: FakeBroker
  private let link: FakeLink
  private let relay: OutboxRelay
  private let metrics = Metrics()

  init() throws {
    store = storeSwitch.store()
    broker = FakeBroker(time: time)
    link = broker.publisher()
    relay = OutboxRelay(
      store: store, publisher: link, eventsExchange: "events", time: time, log: .discarding,
      metrics: metrics)
    var story = try CookStory()
    try story.go(.join, by: Samples.mara)
    let events = story.events
    try store.write { transaction in
      for event in events { try transaction.append(event) }
    }
  }

  private var waiting: Int {
    get throws { try store.read { try $0.outboxDepth().events } }
  }

  private func event(_ id: String, of session: String?) -> OutboxEvent {
    OutboxEvent(
      message: Message(id: id, type: "cooksuggest.session.picked", contentType: "c", body: Data()),
      routingKey: "cooksuggest.session.picked", storedAt: time.now(), orderKey: session)
  }

  private var ids: [String] { broker.messages(in: "build").map(\.id) }

  private var published: [String] { broker.messages(in: "build").map(\.type) }

  @Test func `events go out in their order and are removed once confirmed`() throws {
    #expect(try relay.turn() == 2)
    #expect(try waiting == 0)
    #expect(published == ["cooksuggest.session.created", "cooksuggest.session.joined"])
    #expect(try relay.turn() == 0)
    #expect(metrics.text().contains("lockstep_events_published_total 2"))
  }

  @Test func `nothing is removed before its confirm`() throws {
    var waitingWhilePublished: [Int] = []
    broker.onPublish = { _ in
      waitingWhilePublished.append((try? self.waiting) ?? -1)
    }
    #expect(try relay.turn() == 2)
    #expect(waitingWhilePublished == [2, 2])
    #expect(link.windows.map(\.count) == [1, 1], "one session's events go one after the other")
  }

  @Test func `what is refused stays, the others go`() throws {
    broker.refusal = { $0.message.type.hasSuffix("created") ? "queue is full" : nil }
    try store.write { try $0.append(event("other", of: "cs_other")) }
    #expect(try relay.turn() == 1)
    #expect(try waiting == 2)
    broker.refusal = { _ in nil }
    #expect(try relay.turn() == 0, "not at once")
    time.advance(by: .milliseconds(500))
    #expect(try relay.turn() == 2, "and not only after its lease")
    #expect(try waiting == 0)
  }

  @Test func `a parked event makes an idle relay take no writer's place`() throws {
    #expect(try relay.turn() == 2)
    try store.write { rows in
      try rows.append(event("odd", of: nil))
      let held = try rows.leaseEvents(
        atMost: 1, now: time.now(), until: time.now() + .seconds(1))
      try rows.postponeEvents(
        held.map(\.sequence), until: time.now() + OutboxRelay.parkedWait, parking: true)
    }
    storeSwitch.isAway = true
    for _ in 0..<10 {
      #expect(try relay.turn() == 0)
      time.advance(by: .seconds(29))
    }
    storeSwitch.isAway = false
    #expect(metrics.text().contains("lockstep_outbox_events 1"))
    time.advance(by: .seconds(11))
    #expect(try relay.turn() == 1, "its next try is due")
  }

  @Test func `what is returned stays`() throws {
    broker.unbind("events")
    #expect(try relay.turn() == 0)
    #expect(try waiting == 2)
    #expect(metrics.text().contains("lockstep_events_publish_refused_total 1"))
    broker.bind("events")
    time.advance(by: .milliseconds(500))
    #expect(try relay.turn() == 2)
  }

  @Test func `a lost broker releases what was leased`() throws {
    broker.messagesStoredBeforeLoss = 1
    #expect(throws: BrokerLost.self) { try relay.turn() }
    #expect(try waiting == 2)
    link.close()
    #expect(try relay.turn() == 2, "without waiting for the lease to run out")
    #expect(published.count >= 2)
    #expect(Set(broker.messages(in: "build").map(\.id)).count == 2)
  }

  @Test func `a broker that is down is waited for`() throws {
    broker.isDown = true
    #expect(throws: BrokerLost.self) { try relay.turn() }
    #expect(try waiting == 2)
    broker.isDown = false
    #expect(try relay.turn() == 2)
  }

  @Test func `nothing is published while the broker blocks publishers`() throws {
    broker.isBlocked = true
    #expect(try relay.turn() == 0)
    #expect(link.windows.isEmpty)
    #expect(try waiting == 2)
    broker.isBlocked = false
    #expect(try relay.turn() == 2)
  }

  @Test func `a confirm that could not be noted is no loss: the event goes again, with its id`()
    throws
  {
    broker.onPublish = { _ in storeSwitch.isAway = true }
    #expect(throws: StoreError.self) { try relay.turn() }
    broker.onPublish = { _ in }
    storeSwitch.isAway = false
    #expect(try relay.turn() == 0, "still leased")
    time.advance(by: OutboxRelay.lease)
    #expect(try relay.turn() == 2)
    #expect(Set(broker.messages(in: "build").map(\.id)).count == 2)
  }

  @Test func `two relays carry each event once`() throws {
    let other = OutboxRelay(
      store: store, publisher: broker.publisher(), eventsExchange: "events", time: time,
      log: .discarding, metrics: metrics)
    var carriedByOther: Int?
    broker.onPublish = { _ in
      if carriedByOther == nil {
        carriedByOther = 0
        carriedByOther = try? other.turn()
      }
    }
    #expect(try relay.turn() == 2)
    #expect(carriedByOther == 0)
    #expect(published.count == 2)
  }

  @Test func `a raised stop carries what is left, then ends`() throws {
    let stop = StopSignal()
    stop.raise()
    relay.run(until: stop, grace: .seconds(5)) { _ in Issue.record("waited while stopping") }
    #expect(try waiting == 0)
  }

  // MARK: Order and poison

  @Test func `no event of a session overtakes one that was refused`() throws {
    _ = try relay.turn()
    try store.write { rows in
      for (id, session) in [("a1", "a"), ("b1", "b"), ("a2", "a"), ("b2", "b"), ("a3", "a")] {
        try rows.append(event(id, of: session))
      }
    }
    broker.refusal = { $0.message.id == "a2" ? "queue is full" : nil }
    _ = try relay.turn()
    #expect(ids.suffix(3) == ["a1", "b1", "b2"], "the others flow")
    try store.write { try $0.append(event("a4", of: "a")) }
    #expect(try relay.turn() == 0, "held back behind the refused one")
    broker.refusal = { _ in nil }
    time.advance(by: .milliseconds(500))
    #expect(try relay.turn() == 3)
    #expect(ids.filter { $0.count == 2 && $0.hasPrefix("a") } == ["a1", "a2", "a3", "a4"])
  }

  @Test func `events of one session are not carried by two relays at once`() throws {
    let other = OutboxRelay(
      store: store, publisher: broker.publisher(), eventsExchange: "events", time: time,
      log: .discarding, metrics: metrics)
    _ = try relay.turn()
    try store.write { try $0.append(event("a1", of: "a")) }
    broker.onPublish = { [broker, store] message in
      guard message.message.id == "a1" else { return }
      broker.onPublish = { _ in }
      try? store.write { try $0.append(self.event("a2", of: "a")) }
      #expect((try? other.turn()) == 0, "a1 is on its way")
    }
    #expect(try relay.turn() == 1)
    #expect(try other.turn() == 1)
    #expect(ids.suffix(2) == ["a1", "a2"])
  }

  @Test func `an event that is refused while others go is parked, and holds nothing back`() throws {
    _ = try relay.turn()
    broker.refusal = { $0.message.id == "poison" ? "cannot be" : nil }
    try store.write { rows in
      try rows.append(event("poison", of: "p"))
      try rows.append(event("after", of: "p"))
    }
    for number in 0..<OutboxRelay.triesMax {
      try store.write { try $0.append(event("other \(number)", of: nil)) }
      #expect(metrics.text().contains("lockstep_outbox_parked_events 1") == false)
      #expect(try relay.turn() == 1)
      time.advance(by: .seconds(15))
    }
    #expect(try relay.turn() == 1, "what waited behind it flows")
    #expect(ids.last == "after")
    _ = try relay.turn()
    #expect(metrics.text().contains("lockstep_outbox_parked_events 1"))
    broker.refusal = { _ in nil }
    time.advance(by: OutboxRelay.parkedWait)
    #expect(try relay.turn() == 1, "and tried again now and then")
    #expect(try waiting == 0)
  }

  @Test func `a full queue parks nothing`() throws {
    broker.refusal = { _ in "queue is full" }
    for _ in 0..<(3 * OutboxRelay.triesMax) {
      #expect(try relay.turn() == 0)
      time.advance(by: .seconds(15))
    }
    #expect(try store.read { try $0.parkedEvents() } == 0)
    broker.refusal = { _ in nil }
    #expect(try relay.turn() == 2)
  }

  @Test(arguments: [(0, 500), (1, 1000), (4, 8000), (5, 15_000), (1000, 15_000)])
  func `the wait after a refusal doubles up to its longest`(tries: Int, wait_ms: Int) {
    #expect(OutboxRelay.refusedWait(tries: tries) == .milliseconds(wait_ms))
  }

  @Test func `an alarm in the middle of a window releases what was not confirmed`() throws {
    broker.blocksOnPublish = true
    #expect(try relay.turn() == 0)
    #expect(try waiting == 2)
    #expect(try relay.turn() == 0)
    broker.isBlocked = false
    #expect(try relay.turn() == 2)
    #expect(metrics.text().contains("lockstep_events_publish_refused_total 0"))
  }
}
