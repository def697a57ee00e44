import Testing

/// The simulation finds bugs: each rule that is broken on purpose is noticed within a few worlds.
@Suite struct BrokenRuleTests {
  /// Within so many worlds a broken rule must be noticed.
  private static let worldsMax: UInt64 = 150

  @Test(arguments: BrokenRule.allCases)
  func `a rule broken on purpose is noticed`(broken: BrokenRule) throws {
    var noticed: (seed: UInt64, problems: [String])?
    for seed in 0..<Self.worldsMax where noticed == nil {
      let problems = try World(seed: seed, broken: broken).play()
      if !problems.isEmpty { noticed = (seed, problems) }
    }
    #expect(noticed != nil, "\(broken) is not noticed in \(Self.worldsMax) worlds")
    print("BROKEN \(broken) seed \(noticed?.seed ?? 9999): \(noticed?.problems.first ?? "")")
  }
}
