import Testing

/// The simulation finds bugs: each rule that is broken on purpose is noticed within a few worlds.
@Suite struct BrokenRuleTests {
  @Test(arguments: BrokenRule.allCases)
  func `a rule broken on purpose is noticed`(broken: BrokenRule) throws {
    for seed in 0..<broken.worldsMax {
      let problems = try World(seed: seed, broken: broken, cast: broken.cast).play()
      if !problems.isEmpty { return }
    }
    Issue.record("\(broken) was not noticed in \(broken.worldsMax) worlds")
  }
}
