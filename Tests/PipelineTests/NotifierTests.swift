import Cryptography
import Dispatch
import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import Sessions
import Synchronization
import TestSupport
import Testing
import Vocabulary

@Suite struct NotifierTests {
  private let time = ManualTime()
  private let store = InMemoryStore()
  private let metrics = Metrics()
  private let notifier: Notifier

  init() throws {
    notifier = Notifier(
      store: store, pushes: Samples.routes[.apns], time: time,
      metrics: NotificationMetrics(metrics))
    try store.write { transaction in
      for number in 1...2 {
        try transaction.register(
          Samples.registration(Samples.token(number), of: Samples.mara.userID, .alert))
      }
      try transaction.register(
        Samples.registration(Samples.token(3), of: Samples.dennis.userID, .alert))
    }
  }

  private func take(_ events: [OutboxEvent]) throws -> [Settlement] {
    try notifier.take(events.enumerated().map { Samples.delivery($1.message, UInt64($0 + 1)) })
  }

  private func jobs(_ settlements: [Settlement]) throws -> [PushJob] {
    try settlements.flatMap(\.outgoing).map { try PushJob(reading: $0.message) }
  }

  private func inbox(_ user: Profile = Samples.mara) throws -> [Pipeline.Notification] {
    try store.read {
      try $0.notifications(of: user.userID, before: nil, updatedSince: nil, limit: 10)
    }
  }

  @Test func `the invited one gets a record and an alert on each device`() throws {
    try store.write { try $0.save(Samples.mara) }
    let story = try CookStory()
    let jobs = try jobs(take(story.events))
    #expect(Set(jobs.map(\.token)) == [Samples.token(1), Samples.token(2)])
    for job in jobs {
      #expect(job.event == .alert)
      #expect(job.collapseID == "cs-invite-cs_1")
      #expect(job.deadline == story.session.expiresAt)
      #expect(job.contextKey == nil)
      #expect(try JSONValue(parsing: job.payload)["link"] == "/cook-suggest/cs_1")
    }
    #expect(try inbox().map(\.dedupeKey) == ["cs-invite-cs_1"])
    #expect(try inbox().map(\.title) == ["Plan dinner with Dennis"])
    #expect(try inbox(Samples.dennis).isEmpty)
  }

  @Test func `an event that comes twice invites once, with the same ids`() throws {
    let story = try CookStory()
    let first = try jobs(take(story.events))
    #expect(try jobs(take(story.events)) == first)
    #expect(try inbox().count == 1)
    #expect(metrics.text().contains(#"{channel="inbox",outcome="inserted"} 1"#))
  }

  @Test func `later events alert nobody`() throws {
    var story = try CookStory()
    try story.go(.join, by: Samples.mara)
    #expect(try jobs(take([story.last])).isEmpty)
    #expect(try inbox().count == 1)
  }

  @Test(arguments: [true, false])
  func `the end resolves the invitation, before or after its creation was heard of`(
    isInOrder: Bool
  ) throws {
    var story = try CookStory()
    try story.go(.cancel, by: Samples.dennis)
    let events = isInOrder ? story.events : story.events.reversed()
    for event in events { _ = try take([event]) }
    #expect(try inbox().map(\.resolvedReason) == ["cancelled"])
    #expect(try store.read { try $0.resolvedKeys(among: ["cs-invite-cs_1"]) }.count == 1)
  }

  @Test func `a solo session invites nobody`() throws {
    let settlements = try take(CookStory(partner: nil).events)
    #expect(settlements.map(\.disposition) == [.done])
    #expect(try jobs(settlements).isEmpty)
    #expect(try inbox().isEmpty)
  }

  @Test func `a token's registration is none of its business`() throws {
    let registration = Samples.registration(Samples.token(1), of: Samples.mara.userID, .alert)
    let settlements = try take([Event.registered(registration, at: Samples.noon)])
    #expect(settlements.map(\.disposition) == [.done])
  }

  @Test func `what cannot be read is dead, with the reason`() throws {
    let broken = Message(id: "x", type: "", contentType: "", body: Data("[]".utf8))
    guard case .dead = try notifier.take([Samples.delivery(broken)]).first?.disposition else {
      Issue.record("not dead")
      return
    }
  }

  @Test func `an alert that cannot fit is dead, not tried for ever`() throws {
    // In JSON each of them is six.
    let story = try CookStory(id: "cs_" + String(repeating: "\u{1}", count: 1000))
    guard case .dead(let reason) = try take(story.events).first?.disposition else {
      Issue.record("not dead")
      return
    }
    #expect(reason.contains("APNs takes 4096"))
  }

  @Test func `ten notifiers that hear of one event ten times tell once`() throws {
    let story = try CookStory()
    let messages = Mutex<[Message]>([])
    DispatchQueue.concurrentPerform(iterations: 10) { [store, time, metrics] _ in
      let one = Notifier(
        store: store, pushes: Samples.routes[.apns], time: time,
        metrics: NotificationMetrics(metrics))
      for _ in 0..<10 {
        do {
          let settlements = try one.take([Samples.delivery(story.last.message)])
          messages.withLock { $0 += settlements.flatMap(\.outgoing).map(\.message) }
        } catch {
          Issue.record(error)
        }
      }
    }
    let made = try messages.withLock { $0 }.map { try PushJob(reading: $0) }
    #expect(made.count == 200)
    #expect(Set(made).count == 2)
    #expect(try inbox().count == 1)
    #expect(metrics.text().contains(#"{channel="inbox",outcome="inserted"} 1"#))
  }

  @Test func `a device that comes after the invitation gets no alert, the bell shows it`() throws {
    let story = try CookStory()
    _ = try take(story.events)
    let late = Samples.registration(Samples.token(9), of: Samples.mara.userID, .alert)
    try store.write { try $0.register(late) }
    #expect(try jobs(take([Event.registered(late, at: time.now())])).isEmpty)
    #expect(try inbox().count == 1)
  }

  @Test func `the beginning alerts nobody when the end is known or its time is over`() throws {
    var story = try CookStory()
    try story.go(.cancel, by: Samples.dennis)
    _ = try take([story.events[1]])
    #expect(try jobs(take([story.events[0]])).isEmpty)

    let other = try CookStory(id: "cs_2")
    time.advance(by: other.session.expiresAt - time.now())
    #expect(try jobs(take(other.events)).isEmpty)
    #expect(try inbox().count == 2)
  }

  private func record(_ token: Int, status: Int?) throws {
    let key = "cs-invite-cs_1"
    let id = UUIDText.named(["alert", key, Samples.token(token).hex])
    try store.write {
      try $0.save([
        DeliveryRecord(
          jobID: id, sessionID: SessionID("cs_1"), userID: Samples.mara.userID, contextKey: nil,
          rev: 1, tokenFingerprint: "", event: "alert", status: status, reason: nil, attempt: 1,
          causedAt: time.now(), settledAt: time.now())
      ])
    }
  }

  @Test(arguments: [(200, true), (nil, true), (503, false), (410, false)])
  func `only a device that got the alert, or may have, is asked to take it away`(
    status: Int?, isAsked: Bool
  ) throws {
    var story = try CookStory()
    _ = try take(story.events)
    try record(2, status: status)
    try story.go(.cancel, by: Samples.dennis)
    let first = try jobs(take([story.last]))
    #expect(first.map(\.token) == (isAsked ? [Samples.token(2)] : []))
    #expect(try jobs(take([story.last])) == first)
    guard let job = first.first else { return }
    #expect(job.event == .resolve)
    #expect(job.dedupeKey == "cs-invite-cs_1")
    #expect(job.deadline == story.last.storedAt + .seconds(3600))
    #expect(
      String(decoding: job.payload, as: UTF8.self)
        == #"{"aps":{"content-available":1},"resolve":"cs-invite-cs_1"}"#)
  }
}
