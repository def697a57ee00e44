import Pipeline
import Pushes
import Sessions
import TestSupport
import Testing
import Vocabulary

/// The builder reads for a whole batch at once; what comes of it is as if each event came alone.
@Suite struct BuildBatchTests {
  private static let startToken = Samples.token(1)

  /// A builder with everybody's tokens in its store.
  private struct Rig {
    let store = InMemoryStore()
    let builder: PayloadBuilder

    init(_ registrations: [Registration], time: ManualTime) throws {
      // Any other stage's route tells the jobs for Android phones apart.
      builder = PayloadBuilder(
        store: store, pushes: Samples.routes[.apns], fcm: Samples.routes[.webpush], time: time)
      let phone = FCMRegistration(
        userID: Samples.mara.userID, token: try FCMToken("android-phone-of-mara"), deviceID: "a1",
        packageName: "app.example.cook", registeredAt: Samples.noon)
      try store.write { transaction in
        for registration in registrations { try transaction.register(registration) }
        try transaction.register(phone)
      }
    }

    /// What comes of each event, in order.
    func take(_ events: [OutboxEvent]) throws -> [Settlement] {
      let deliveries = events.enumerated().map { Samples.delivery($1.message, UInt64($0 + 1)) }
      return try builder.take(deliveries)
    }
  }

  private func registrations(_ story: CookStory) -> [Registration] {
    [
      Samples.registration(Self.startToken, of: Samples.mara.userID, .pushToStart),
      Samples.registration(
        Samples.token(2), of: Samples.mara.userID, .update, context: story.context(Samples.mara)),
      Samples.registration(
        Samples.token(3), of: Samples.dennis.userID, .update,
        context: story.context(Samples.dennis)),
    ]
  }

  @Test(arguments: 0..<60)
  func `one batch and one event after the other come to the same`(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    var story = try CookStory()
    let registrations = registrations(story)
    try story.goToProposed()
    try story.go(.pick(ProposalID("p_2")), by: Samples.mara)
    if Bool.random(using: &random) { try story.go(.leave, by: Samples.mara) }
    if Bool.random(using: &random) { try story.go(.cancel, by: Samples.dennis) }
    let time = ManualTime()
    let (together, alone) = (
      try Rig(registrations, time: time), try Rig(registrations, time: time)
    )
    let isAccepted = random.happens(onceIn: 3)
    let isDismissed = random.happens(onceIn: 3)
    let (session, context) = (story.session.id, story.context(Samples.mara))
    for rig in [together, alone] {
      try rig.store.write { transaction in
        if isAccepted {
          try transaction.save(
            Start(
              sessionID: session, token: Self.startToken, contextKey: context,
              firstAskedAt: Samples.noon))
          try transaction.acceptStart(of: session, token: Self.startToken, at: Samples.noon)
        }
        if isDismissed {
          try transaction.save(
            PhoneReport(
              contextKey: context, userID: Samples.mara.userID, state: .dismissed, rev: 1,
              reportedAt: Samples.noon))
        }
      }
    }
    let events = (story.events + registrations.map { Event.registered($0, at: time.now()) })
      .flatMap { [$0, $0] }.shuffled(using: &random)
    let inOneBatch = try together.take(events)
    let oneByOne = try events.flatMap { try alone.take([$0]) }
    #expect(inOneBatch.map(\.disposition) == oneByOne.map(\.disposition), "seed \(seed)")
    #expect(inOneBatch.map(\.outgoing) == oneByOne.map(\.outgoing), "seed \(seed)")
    let kept = try [together, alone].map { rig in
      try rig.store.read { rows in
        let states = try rows.activityStates([context, story.context(Samples.dennis)])
        return (states, try rows.starts(of: [session]), try rows.builds(of: session))
      }
    }
    #expect(kept[0].0 == kept[1].0, "seed \(seed)")
    #expect(kept[0].1 == kept[1].1, "seed \(seed)")
    #expect(kept[0].2 == kept[1].2, "seed \(seed)")
  }

  @Test func `a session that ends in the same batch has nothing to start, and its end to show`()
    throws
  {
    var story = try CookStory()
    let registrations = registrations(story)
    let rig = try Rig(registrations, time: ManualTime())
    try story.go(.cancel, by: Samples.dennis)
    let late = registrations.prefix(2).map { Event.registered($0, at: Samples.noon) }
    let jobs = try rig.take(story.events + late).map { settlement in
      try settlement.outgoing.filter { $0.exchange == "apns" }
        .map { try PushJob(reading: $0.message).event }
    }
    #expect(jobs == [[.update, .update, .start], [.end, .end], [], [.end]])
  }
}
