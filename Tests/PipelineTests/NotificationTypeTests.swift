import Pipeline
import Pushes
import ServiceRuntime
import Sessions
import TestSupport
import Testing
import Vocabulary

/// All of a second type of notification: who gets it, what it says, when it is over.
extension NotificationType {
  fileprivate static let dishToChoose = NotificationType(name: "test.dish_to_choose") { event in
    guard case .session(let session, _) = event.subject else { return [] }
    let standing: Notice.Standing? =
      switch session.state {
      case .proposed: .open(alerts: event.type == SessionEventType.proposed.typeName)
      case .finalizing, .decided, .cancelled: .resolved(because: "chosen")
      case .answering, .generating: nil
      }
    guard let standing else { return [] }
    return session.present.map { participant in
      Notice(
        userID: participant.userID, dedupeKey: "test-dish-\(session.id)", icon: "🍲",
        link: "/choose/\(session.id)", standing: standing, expiresAt: session.expiresAt,
        sessionID: session.id, rev: session.rev
      ) { Notice.Text(title: $0 == .german ? "Wählt!" : "Choose!", body: "") }
    }
  }
}

@Suite struct NotificationTypeTests {
  private let store = InMemoryStore()
  private let notifier: Notifier

  init() throws {
    notifier = Notifier(
      store: store, pushes: Samples.routes[.apns], types: [.dishToChoose] + NotificationType.all,
      time: ManualTime(), metrics: NotificationMetrics(Metrics()))
    try store.write { rows in
      try rows.save(Samples.dennis)
      try rows.save(Samples.mara)
      try rows.register(Samples.registration(Samples.token(1), of: Samples.mara.userID, .alert))
      try rows.register(Samples.registration(Samples.token(2), of: Samples.dennis.userID, .alert))
    }
  }

  private func inbox(_ user: Profile) throws -> [Pipeline.Notification] {
    try store.read {
      try $0.notifications(of: user.userID, before: nil, updatedSince: nil, limit: 10)
    }.sorted { $0.type < $1.type }
  }

  @Test func `a second type needs nothing but itself`() throws {
    var story = try CookStory()
    try story.goToProposed()
    let settlements = try notifier.take(
      story.events.enumerated().map { Samples.delivery($1.message, UInt64($0 + 1)) })
    let jobs = try settlements.flatMap(\.outgoing).map { try PushJob(reading: $0.message) }
    #expect(jobs.map(\.collapseID) == ["cs-invite-cs_1", "test-dish-cs_1", "test-dish-cs_1"])
    #expect(Set(jobs.map(\.id)).count == 3)
    let mara = try inbox(Samples.mara)
    #expect(mara.map(\.type) == ["cooksuggest.invitation", "test.dish_to_choose"])
    #expect(mara.last?.title == "Choose!" && mara.last?.link == "/choose/cs_1")
    #expect(try inbox(Samples.dennis).map(\.title) == ["Wählt!"])

    try story.goToDecided()
    _ = try notifier.take([Samples.delivery(story.last.message)])
    #expect(try inbox(Samples.mara).map(\.resolvedReason) == ["decided", "chosen"])
    #expect(try inbox(Samples.dennis).map(\.resolvedReason) == ["chosen"])
  }
}
