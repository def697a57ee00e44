import Pipeline
import ServiceRuntime
import Sessions
import TestSupport
import Testing
import Vocabulary

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
  }

  @Test func `what is refused stays, the others go`() throws {
    broker.refusal = { $0.message.type.hasSuffix("created") ? "queue is full" : nil }
    #expect(try relay.turn() == 1)
    #expect(try waiting == 1)
    broker.refusal = { _ in nil }
    #expect(try relay.turn() == 1, "released at once, not after its lease")
    #expect(try waiting == 0)
  }

  @Test func `what is returned stays`() throws {
    broker.unbind("events")
    #expect(try relay.turn() == 0)
    #expect(try waiting == 2)
    #expect(metrics.text().contains("lockstep_events_publish_refused_total 2"))
    broker.bind("events")
    #expect(try relay.turn() == 2)
  }

  @Test func `a lost broker releases what was leased`() throws {
    broker.messagesStoredBeforeLoss = 1
    #expect(throws: BrokerLost.self) { try relay.turn() }
    #expect(try waiting == 2)
    link.close()
    #expect(try relay.turn() == 2, "without waiting for the lease to run out")
    #expect(published.count == 3, "the one without a confirm came twice, with one id")
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
}
