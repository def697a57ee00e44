import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import Sessions
import TestSupport
import Testing
import Vocabulary

/// The invitation's way to the phone, and what becomes of it when the session ends on the way.
@Suite struct TakingBackTests {
  private let world = AlertWorld()

  private func invite() throws -> CookStory {
    let story = try CookStory()
    world.tell(story.events)
    return story
  }

  private func cancel(_ story: inout CookStory) throws {
    try story.go(.cancel, by: Samples.dennis, at: world.time.now())
    world.tell([story.last])
  }

  /// The push types of what reached APNs.
  private var pushed: [String] { world.transport.requests.map(\.pushType) }

  /// `waited`: before it was known that the other sender was through.
  private func expectTakenBackOnce(_ story: CookStory, waited: Duration = .zero) throws {
    let silent = world.transport.requests.filter { $0.pushType == "background" }
    #expect(silent.count == 1)
    guard let push = silent.first else { return }
    #expect(push.priority == 5)
    #expect(push.topic == Samples.bundle)
    #expect(push.collapseID == nil)
    #expect(push.expiration == (story.last.storedAt + .seconds(3600) + waited).seconds)
    let json = try JSONValue(parsing: push.body)
    #expect(json == ["aps": ["content-available": 1], "resolve": "cs-invite-cs_1"])
    #expect(world.broker.violations.isEmpty)
  }

  @Test func `a device that shows the alert gets one silent push`() throws {
    var story = try invite()
    try world.settle()
    #expect(pushed == ["alert"])
    try cancel(&story)
    try world.settle()
    try expectTakenBackOnce(story)
    world.tell([story.last, story.last])
    try world.settle()
    try expectTakenBackOnce(story)
  }

  @Test(arguments: [PushOutcome.status(503, "ServiceUnavailable"), .status(429, "TooManyRequests")])
  func `cancelled while it waits in a rung, the alert is never sent, and nothing taken back`(
    refusal: PushOutcome
  ) throws {
    var story = try invite()
    world.transport.answer = { _ in refusal }
    try world.turns()
    #expect(pushed == ["alert"])
    #expect(world.broker.waiting(on: .apns).count == 1)
    world.transport.answer = { _ in .status(200) }
    try cancel(&story)
    try world.settle()
    #expect(pushed == ["alert"])
    #expect(world.broker.waiting(on: .apns).isEmpty)
    #expect(world.broker.messages(in: "dead.apns").isEmpty)
  }

  @Test func `cancelled while it waits in the queue, it is never sent`() throws {
    var story = try invite()
    _ = try world.turn(world.notifier)
    #expect(world.broker.messages(in: "apns").count == 1)
    try cancel(&story)
    _ = try world.turn(world.notifier)
    try world.settle()
    #expect(pushed == [])
  }

  @Test func `an alert in flight while the session ends is taken back when it is accepted`() throws
  {
    var story = try invite()
    world.transport.answer = { _ in nil }
    try world.turns()
    try cancel(&story)
    try world.turns()
    #expect(pushed == ["alert"])
    world.transport.answer = { _ in .status(200) }
    try world.settle()
    #expect(pushed == ["alert", "background"])
    try expectTakenBackOnce(story)
  }

  @Test func `an alert in flight that is refused leaves nothing to take back`() throws {
    var story = try invite()
    world.transport.answer = { _ in nil }
    try world.turns()
    try cancel(&story)
    try world.turns()
    world.transport.answer = { _ in .status(410, "Unregistered") }
    try world.settle()
    #expect(pushed == ["alert"])
  }

  @Test func `an alert that may have arrived is taken back`() throws {
    var story = try invite()
    world.transport.answer = { _ in .unanswered(because: "connection lost") }
    try world.turns()
    let sends = pushed.count
    #expect(world.broker.waiting(on: .apns).count == 1)
    world.transport.answer = { _ in .status(200) }
    try cancel(&story)
    try world.settle()
    #expect(pushed.dropFirst(sends) == ["background"])
    try expectTakenBackOnce(story)
  }

  @Test func `what a sender that died may have sent is taken back by the next`() throws {
    var story = try invite()
    world.transport.answer = { _ in nil }
    try world.turns()
    #expect(pushed == ["alert"])
    world.killSender()
    try cancel(&story)
    try world.settle()
    #expect(pushed == ["background"])
    try expectTakenBackOnce(story, waited: .seconds(30))
  }

  @Test func `what takes an alert back does not overtake the alert of another sender`() throws {
    var story = try invite()
    world.transport.answer = { _ in nil }
    try world.turns()
    world.killSender()
    try cancel(&story)
    try world.turns()
    #expect(world.transport.requests.isEmpty)
    #expect(world.broker.waiting(on: .apns).map(\.exchange).allSatisfy { $0.contains("30s") })
    try world.settle()
    try expectTakenBackOnce(story, waited: .seconds(30))
  }

  @Test func `what a sender that died may have sent is taken back though the next was refused`()
    throws
  {
    var story = try invite()
    world.transport.answer = { _ in nil }
    try world.turns()
    world.killSender()
    world.transport.answer = { _ in .status(503, "ServiceUnavailable") }
    try world.turns()
    world.transport.answer = { _ in .status(200) }
    try cancel(&story)
    try world.settle()
    #expect(world.transport.requests.count { $0.pushType == "background" } == 1)
  }

  /// The first attempt had no answer, so that the notifier took the alert back; a second attempt
  /// was under way then, of a sender that died.
  @Test func `what is taken back once is taken back again after a sender that died`() throws {
    var story = try invite()
    world.transport.answer = { _ in .unanswered(because: "connection lost") }
    try world.turns()
    world.transport.answer = { _ in nil }
    world.time.advance(by: try #require(world.broker.nextDue) - world.time.elapsed())
    try world.turns()
    #expect(pushed.last == "alert")
    world.killSender()
    try cancel(&story)
    try world.turns()
    #expect(pushed == ["background"])
    let before = world.time.elapsed()
    try world.settle()
    #expect(pushed == ["background", "background"])
    #expect(Set(world.transport.requests.map(\.apnsID)).count == 2)
    #expect(world.time.elapsed() - before >= .seconds(30))
  }

  @Test func `an alert that was under way while another sender took it back is taken back again`()
    throws
  {
    var story = try invite()
    world.transport.answer = { _ in .unanswered(because: "connection lost") }
    try world.turns()
    world.transport.answer = { _ in nil }
    let due = try #require(world.broker.nextDue)
    world.time.advance(by: due - world.time.elapsed())
    try world.turns()
    try cancel(&story)
    _ = try world.turn(world.notifier)
    let (other, transport) = world.otherSender()
    while try world.turn(other) {}
    #expect(transport.requests.map(\.pushType) == ["background"])
    // The alert arrives after that, and nobody hears so.
    world.transport.answer = {
      $0.pushType == "alert" ? .unanswered(because: "connection lost") : .status(200)
    }
    try world.settle()
    #expect(pushed.last == "background")
    #expect(pushed.count { $0 == "background" } == 1)
  }

  @Test func `a token that is gone gets nothing`() throws {
    var story = try invite()
    try world.settle()
    try world.store.write {
      _ = try $0.unregister(
        Samples.token(1), of: Samples.mara.userID, kind: .alert, attributesType: nil)
    }
    try cancel(&story)
    try world.settle()
    #expect(pushed == ["alert"])
  }
}

/// Notifier and sender with a broker between them, and one device of the invited one.
final class AlertWorld {
  let time = ManualTime()
  let store = InMemoryStore()
  let broker: FakeBroker
  private(set) var transport = ScriptedTransport()
  let notifier: Worker
  private(set) var sender: Worker

  init() {
    broker = FakeBroker(time: time)
    notifier = Worker(
      route: Samples.routes[.notify], link: broker.link(to: .notify),
      stage: Notifier(
        store: store, pushes: Samples.routes[.apns], time: time,
        metrics: NotificationMetrics(Metrics())),
      time: time, log: .discarding, metrics: Metrics())
    sender = Self.sender(store, transport, broker, time)
    do {
      try store.write {
        try $0.register(Samples.registration(Samples.token(1), of: Samples.mara.userID, .alert))
      }
    } catch {
      preconditionFailure("a store in memory took no token: \(error)")
    }
  }

  private static func sender(
    _ store: InMemoryStore, _ transport: ScriptedTransport, _ broker: FakeBroker,
    _ time: ManualTime
  ) -> Worker {
    Worker(
      route: Samples.routes[.apns], link: broker.link(to: .apns),
      stage: APNsSender(
        store: store, pushes: Samples.routes[.apns], transport: transport,
        bundleID: Samples.bundle, time: time, log: .discarding, metrics: Metrics()),
      time: time, log: .discarding, metrics: Metrics())
  }

  /// One on another machine.
  func otherSender() -> (Worker, ScriptedTransport) {
    let transport = ScriptedTransport()
    transport.answer = { _ in .status(200) }
    return (Self.sender(store, transport, broker, time), transport)
  }

  /// SIGKILL: what was in flight has no answer, and nothing says that it was sent.
  func killSender() {
    broker.loseConnections()
    transport = ScriptedTransport()
    sender = Self.sender(store, transport, broker, time)
  }

  func tell(_ told: [OutboxEvent]) {
    for event in told {
      broker.put(event.message, into: "notify", exchange: "events", key: event.routingKey)
    }
  }

  func turn(_ worker: Worker) throws -> Bool {
    do {
      return try worker.turn()
    } catch {
      _ = worker.lost(error)
      return true
    }
  }

  /// Both go on as far as they can now.
  func turns() throws {
    while try turn(notifier) || turn(sender) {}
  }

  /// Time goes on too, until nothing is left to do.
  func settle() throws {
    try turns()
    while let due = broker.nextDue {
      time.advance(by: max(due - time.elapsed(), .zero))
      try turns()
    }
  }
}
