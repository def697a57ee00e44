import Foundation
import Testing

/// Thousands of small worlds in which everything goes wrong. A failure names its seed and the
/// command that plays that one world again.
@Suite struct SimulationTests {
  /// Set: only this world is played, and its story is told.
  private static let seed = number("LOCKSTEP_SIMULATION_SEED")
  /// How many worlds are played.
  private static let worlds = number("LOCKSTEP_SIMULATION_WORLDS") ?? 100
  /// Worlds in one test: enough to keep every core busy to the end.
  private static let batch: UInt64 = 50

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
  }

  private static let batches = Array(stride(from: seed ?? 0, to: seed.map { $0 + 1 } ?? worlds, by: 50))

  @Test(arguments: batches)
  func `nothing accepted is lost and nothing happens twice`(first: UInt64) throws {
    let last = Self.seed.map { $0 + 1 } ?? min(first + Self.batch, Self.worlds)
    for seed in first..<last {
      let world = try World(seed: seed, keepsStory: Self.seed != nil)
      let problems = try world.play()
      if Self.seed != nil { print(world.chaos.story.joined(separator: "\n")); print(String(world.chaos.digest, radix: 16)) }
      #expect(problems.isEmpty, "\(Self.replay(seed))")
    }
  }

  private static func replay(_ seed: UInt64) -> String {
    "replay: LOCKSTEP_SIMULATION_SEED=\(seed) swift test --filter SimulationTests.SimulationTests"
  }
}
