import Cryptography
import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import Sessions
import TestSupport
import Vocabulary

/// API, builder and senders over a store in memory, with a broker between them, for stories that
/// are explained afterwards.
final class ExplainWorld {
  let time = ManualTime()
  let store = InMemoryStore()
  let transport = ScriptedTransport()
  let fcm = ScriptedFCM()
  let broker: FakeBroker
  private(set) var story: CookStory
  private let builder: Worker
  private let sender: Worker
  private let fcmSender: Worker

  init() throws {
    broker = FakeBroker(time: time)
    story = try CookStory(at: time.now())
    let pushes = Samples.routes[.apns]
    func worker(_ stage: any Stage, _ broker: FakeBroker, _ time: ManualTime) -> Worker {
      Worker(
        route: Samples.routes[stage.name], link: broker.link(to: stage.name), stage: stage,
        time: time, log: .discarding, metrics: Metrics())
    }
    builder = worker(
      PayloadBuilder(store: store, pushes: pushes, fcm: Samples.routes[.fcm], time: time), broker,
      time)
    fcmSender = worker(
      FCMSender(
        store: store, pushes: Samples.routes[.fcm], carrier: fcm, project: "cook-example",
        time: time, log: .discarding, metrics: Metrics()), broker, time)
    sender = worker(
      APNsSender(
        store: store, pushes: pushes, transport: transport, bundleID: Samples.bundle, time: time,
        log: .discarding, metrics: Metrics()), broker, time)
  }

  /// Stores the newest mutation as the API does, and publishes its event unless the broker is away.
  func commit(published: Bool = true) throws {
    try store.write { rows in
      try rows.save(story.session)
      try rows.save(story.mutations[story.mutations.count - 1])
      if !published { try rows.append(story.last) }
    }
    if published { tell(story.last) }
  }

  func tell(_ event: OutboxEvent) {
    broker.put(event.message, into: "build", exchange: "events", key: event.routingKey)
  }

  func go(_ mutation: Mutation, by actor: Profile? = nil, published: Bool = true) throws {
    try story.go(mutation, by: actor, at: time.now())
    try commit(published: published)
  }

  /// `number`: names the token.
  func register(_ number: Int, of owner: Profile, _ kind: TokenKind, isHeard: Bool = true) throws {
    let registration = Samples.registration(
      Samples.token(number), of: owner.userID, kind,
      context: kind == .update ? story.context(owner) : nil, at: time.now(),
      provenAt: time.now())
    try store.write { try $0.register(registration) }
    if isHeard { tell(Event.registered(registration, at: time.now())) }
  }

  /// An Android phone; `number` names its token.
  func registerAndroid(_ number: Int, of owner: Profile) throws {
    let registration = FCMRegistration(
      userID: owner.userID, token: try FCMToken("Phone:\(number)"), deviceID: nil,
      packageName: "app.example.cook", registeredAt: time.now())
    try store.write { try $0.register(registration) }
    tell(
      Event.outboxEntry(
        registered: registration, id: EventID(UUIDText.v7(now: time.now())), at: time.now(),
        traceparent: nil))
  }

  func report(_ owner: Profile, _ state: PhoneReport.State, rev: Int? = nil) throws {
    try store.write {
      try $0.save(
        PhoneReport(
          contextKey: story.context(owner), userID: owner.userID, state: state, rev: rev,
          reportedAt: time.now()))
    }
  }

  /// All workers go on as far as they can, then time does.
  func turns(then span: Duration = .zero) throws {
    while try builder.turn() || sender.turn() || fcmSender.turn() {}
    time.advance(by: span)
  }

  /// Only the builder works.
  func build() throws {
    while try builder.turn() {}
  }

  func history() throws -> SessionHistory {
    try store.read { try SessionHistory(of: story.session.id, in: $0) }
  }

  func timeline(for user: Profile? = nil, later span: Duration = .zero) throws -> Timeline {
    Timeline(try history(), for: user?.userID, now: time.now() + span)
  }

  func answer(_ user: Profile, later span: Duration = .zero) throws -> String {
    try timeline(for: user, later: span).answers.map(\.text).joined(separator: "\n")
  }
}
