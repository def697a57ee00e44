import Pipeline
import Pushes
import Sessions
import TestSupport
import Testing
import Vocabulary

/// Two sessions in a broken world, two hundred times. A failure names the seed; run that one alone
/// by putting it into `seeds`.
@Suite struct WholePipelineTests {
  private static let seeds: Range<UInt64> = 0..<200

  @Test(arguments: seeds)
  func `the newest state reaches every phone, and nothing old comes after it`(seed: UInt64) throws {
    let world = try PipelineWorld(seed: seed)
    for number in 0..<2 {
      try world.register(
        Samples.registration(
          Samples.token(200 + number), of: Samples.mara.userID, .alert, at: world.time.now()))
    }
    try world.register(
      Samples.registration(
        world.startToken(0), of: Samples.mara.userID, .pushToStart, at: world.time.now()))
    for id in ["cs_1", "cs_2"] { try world.begin(id) }
    for number in 0..<300 {
      if number == 150, !world.storeSwitch.isAway {
        try world.register(
          Samples.registration(
            world.startToken(1), of: Samples.mara.userID, .pushToStart, at: world.time.now()))
      }
      try world.step()
    }
    #expect(try world.settle(), "seed \(seed): does not come to rest")
    try Self.checkQueues(world, seed)
    try Self.checkUpdates(world, seed)
    try Self.checkStarts(world, seed)
    try Self.checkAlerts(world, seed)
  }

  private static func checkQueues(_ world: PipelineWorld, _ seed: UInt64) throws {
    #expect(world.broker.violations.isEmpty, "seed \(seed)")
    #expect(world.overlaps.isEmpty, "seed \(seed): two pushes to one token at once")
    for queue in ["build", "apns", "notify", "dead.build", "dead.apns", "dead.notify"] {
      #expect(world.broker.messages(in: queue).isEmpty, "seed \(seed): \(queue)")
    }
  }

  private static func checkUpdates(_ world: PipelineWorld, _ seed: UInt64) throws {
    for story in world.stories {
      for owner in [Samples.dennis, Samples.mara] {
        let context = story.context(owner)
        let (state, tokens) = try world.store.read { transaction in
          (
            try transaction.activityStates([context])[context],
            try transaction.updateTokens(of: [context])[context] ?? []
          )
        }
        if state?.event == .update {
          #expect(state?.rev == story.session.rev, "seed \(seed): \(context)")
        }
        for token in tokens.map(\.token) {
          let revs = try world.arrivals.filter { $0.request.token == token }.map { arrival in
            try JSONValue(parsing: arrival.request.body)["aps"]?["content-state"]?["rev"]
          }.map { if case .integer(let rev) = $0 { Int(rev) } else { 0 } }
          #expect(revs == revs.sorted(), "seed \(seed): \(context) an older rev after a newer one")
          #expect(revs.last == state?.rev, "seed \(seed): \(context) not the newest rev")
        }
      }
    }
  }

  private static func checkStarts(_ world: PipelineWorld, _ seed: UInt64) throws {
    for story in world.stories {
      let state = try world.store.read {
        try $0.activityStates([story.context(Samples.mara)]).values.first
      }
      for device in 0..<2 {
        let token = world.startToken(device)
        let isRegistered =
          try world.store.read { try $0.registrations(of: [token])[token] } != nil
        let starts = world.arrivals.filter {
          $0.request.token == token && $0.request.collapseID == "start:\(story.session.id)"
        }
        #expect(Set(starts.map(\.request.apnsID)).count <= 1, "seed \(seed): two ids of one start")
        // A second answer is only possible when the sender died between answer and record.
        let answered = starts.count(where: \.isAnswered)
        #expect(answered <= (world.kills == 0 ? 1 : 2), "seed \(seed): started twice")
        if isRegistered, state?.event == .update {
          #expect(answered >= 1, "seed \(seed): \(story.session.id) not started on \(device)")
        }
      }
    }
  }

  private static func checkAlerts(_ world: PipelineWorld, _ seed: UInt64) throws {
    for story in world.stories {
      for number in 0..<2 {
        let alerts = world.arrivals.filter {
          $0.request.token == Samples.token(200 + number)
            && $0.request.collapseID == story.session.invitationDedupeKey
        }
        #expect(Set(alerts.map(\.request.apnsID)).count <= 1, "seed \(seed): two ids of one alert")
        if !story.session.state.isFinal {
          #expect(alerts.contains { $0.isAnswered }, "seed \(seed): not invited")
        }
      }
    }
  }
}
