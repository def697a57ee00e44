import Foundation
import Testing

/// Many small worlds in which everything goes wrong. A failure names its seed and the command that
/// plays that one world again and tells its story.
@Suite struct SimulationTests {
  /// Set: only this world is played.
  private static let seed = number("LOCKSTEP_SIMULATION_SEED")
  /// How many worlds are played, from seed 0.
  private static let worlds = number("LOCKSTEP_SIMULATION_WORLDS") ?? 1000
  /// Worlds in one test: few, so that every core is busy to the end.
  private static let batch: UInt64 = 25

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
  }

  private static let batches: [Range<UInt64>] =
    seed.map { [$0..<$0 + 1] }
    ?? stride(from: 0, to: worlds, by: Int(batch)).map { $0..<min($0 + batch, worlds) }

  @Test(arguments: batches)
  func `nothing accepted is lost and nothing happens twice`(seeds: Range<UInt64>) throws {
    for seed in seeds {
      let world = try World(seed: seed, keepsStory: Self.seed != nil)
      let problems = try world.play()
      if Self.seed != nil { print(world.chaos.story.joined(separator: "\n")) }
      #expect(problems.isEmpty, "replay: \(Self.replay(seed))")
    }
  }

  /// Fewer: activities take the same way as sessions, and only what is their own is new.
  private static let activityBatches: [Range<UInt64>] =
    seed.map { [$0..<$0 + 1] }
    ?? stride(from: 0, to: worlds / 4, by: Int(batch)).map { $0..<min($0 + batch, worlds / 4) }

  @Test(arguments: activityBatches)
  func `activities keep the same promises`(seeds: Range<UInt64>) throws {
    for seed in seeds {
      let world = try World(seed: seed, hasActivities: true, keepsStory: Self.seed != nil)
      let problems = try world.play()
      if Self.seed != nil { print(world.chaos.story.joined(separator: "\n")) }
      #expect(problems.isEmpty, "replay: \(Self.replay(seed))")
    }
  }

  @Test func `a seed plays the same world again`() throws {
    for seed: UInt64 in 0..<3 {
      let first = try World(seed: seed)
      let second = try World(seed: seed)
      _ = try first.play()
      _ = try second.play()
      #expect(first.chaos.digest == second.chaos.digest, "\(Self.replay(seed))")
    }
  }

  private static func replay(_ seed: UInt64) -> String {
    "LOCKSTEP_SIMULATION_SEED=\(seed) swift test --filter SimulationTests.SimulationTests"
  }
}
