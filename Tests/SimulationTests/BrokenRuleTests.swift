import Testing

/// The simulation finds bugs: each rule that is broken on purpose is noticed within a few worlds.
@Suite struct BrokenRuleTests {
  /// Within so many worlds a broken rule must be noticed.
  private static let worldsMax: UInt64 = 60

  @Test(arguments: BrokenRule.allCases)
  func `a rule broken on purpose is noticed`(broken: BrokenRule) throws {
    for seed in 0..<Self.worldsMax {
      let cast: Cast = broken.isOfOtherPhones ? .otherPhones : []
      let problems = try World(seed: seed, broken: broken, cast: cast).play()
      if !problems.isEmpty { return }
    }
    Issue.record("\(broken) was not noticed in \(Self.worldsMax) worlds")
  }
}
