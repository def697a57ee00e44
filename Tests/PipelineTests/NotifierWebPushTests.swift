import Cryptography
import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import Sessions
import TestSupport
import Testing
import Vocabulary

@Suite struct NotifierWebPushTests {
  private let store = InMemoryStore()
  private let time = ManualTime()

  private func notifier(hasOutlet: Bool = true) throws -> Notifier {
    let outlet = WebPushOutlet(
      route: Samples.routes[.webpush], origin: try WebOrigin("https://app.example"))
    return Notifier(
      store: store, pushes: Samples.routes[.apns], webPush: hasOutlet ? outlet : nil, time: time,
      metrics: NotificationMetrics(Metrics()))
  }

  private func subscribe(_ number: Int, _ user: Profile = Samples.mara) throws
    -> WebPushSubscription
  {
    let subscription = WebPushSubscription(
      userID: user.userID, endpoint: try PushEndpoint("https://fcm.googleapis.com/send/\(number)"),
      keys: try WebPushKeys(
        p256dh: AgreementKey.generate().publicKey, auth: RandomBytes.make(16)),
      vapidKeyID: "key", createdAt: time.now())
    return try store.write { try $0.save(subscription) }
  }

  private func outgoing(_ notifier: Notifier, _ events: [OutboxEvent]) throws -> [OutgoingMessage] {
    try notifier.take(
      events.enumerated().map { Samples.delivery($1.message, UInt64($0 + 1)) }
    ).flatMap(\.outgoing)
  }

  @Test func `each of the invited one's browsers is told, with links made absolute`() throws {
    let browsers = try [subscribe(1), subscribe(2)]
    _ = try subscribe(3, Samples.dennis)
    try store.write { try $0.save(Samples.mara) }
    let story = try CookStory()
    let notifier = try notifier()
    let told = try outgoing(notifier, story.events)
    #expect(told.map(\.exchange) == ["webpush", "webpush"])
    let jobs = try told.map { try WebPushJob(reading: $0.message) }
    #expect(Set(jobs.map(\.subscriptionID)) == Set(browsers.map(\.id)))
    #expect(Set(jobs.map(\.id)).count == 2)
    for job in jobs {
      #expect(job.deadline == story.session.expiresAt)
      #expect(job.dedupeKey == "cs-invite-cs_1")
      let shown = try JSONValue(parsing: job.payload)["notification"]
      #expect(shown?["title"] == "Plan dinner with Dennis")
      #expect(shown?["navigate"] == "https://app.example/cook-suggest/cs_1")
      #expect(shown?["lang"] == "en")
      #expect(shown?["data"]?["icon"] == "✨")
    }
    #expect(try outgoing(notifier, story.events) == told)
  }

  @Test func `beside an alert on each device`() throws {
    _ = try subscribe(1)
    try store.write {
      try $0.register(Samples.registration(Samples.token(1), of: Samples.mara.userID, .alert))
    }
    #expect(
      try outgoing(notifier(), CookStory().events).map(\.exchange) == ["apns", "webpush"])
  }

  @Test func `without a web app no browser is told`() throws {
    _ = try subscribe(1)
    #expect(try outgoing(notifier(hasOutlet: false), CookStory().events).isEmpty)
  }

  @Test func `neither later events nor what is over tell a browser`() throws {
    _ = try subscribe(1)
    var story = try CookStory()
    try story.go(.join, by: Samples.mara)
    try story.go(.cancel, by: Samples.dennis)
    let backwards = Array(story.events.reversed())
    #expect(try outgoing(notifier(), backwards).isEmpty)
  }
}
