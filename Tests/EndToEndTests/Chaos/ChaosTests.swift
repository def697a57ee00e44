import Foundation
import Glibc
import Testing

extension EndToEnd {
  /// Short here; `Tests/Chaos/run` makes the long form.
  @Suite struct ChaosTests {
    private static func number(_ name: String) -> UInt64? {
      ProcessInfo.processInfo.environment["LOCKSTEP_TEST_CHAOS_\(name)"].flatMap { UInt64($0) }
    }

    @Test func `Under every kind of fault nothing is lost, doubled or out of order`() throws {
      let rounds = Self.number("ROUNDS") ?? 1
      let first = Self.number("SEED") ?? UInt64.random(in: 1...999_999_999)
      for round in 0..<rounds {
        let schedule = StrikeSchedule(
          seed: first + round, more: Int(Self.number("MORE") ?? 0),
          longest: .milliseconds(Int(Self.number("LONGEST_MS") ?? 600)))
        let plan = ChaosRound.Plan(
          seed: first + round, mutations: Int(Self.number("MUTATIONS") ?? 300),
          strikes: schedule.strikes, isAPNsIll: true)
        print("chaos: round \(round + 1) of \(rounds), seed \(plan.seed)")
        fflush(nil)
        let chaos = try ChaosRound(plan)
        let report = try chaos.run()
        print("chaos: seed \(plan.seed): \(report.summary)")
        for problem in report.problems.prefix(20) { print("chaos: seed \(plan.seed): \(problem)") }
        fflush(nil)
        #expect(
          report.problems.isEmpty,
          """
          seed \(plan.seed), \(report.problems.count) problems:
          \(report.problems.prefix(10).joined(separator: "\n"))
          strikes: \(report.strikes.joined(separator: "; "))
          \(chaos.installation.logs())
          """)
        #expect(report.recoveries.count == plan.strikes.count { $0.what == .killBroker })
      }
    }

    @Test func `While every role is restarted by SIGTERM nothing is handed out twice`() throws {
      let seed = Self.number("SEED") ?? UInt64.random(in: 1...999_999_999)
      let strikes = (Role.separate + Role.separate).map { Strike(what: .end($0), lasts: .zero) }
      let chaos = try ChaosRound(
        .init(
          seed: seed, mutations: 150, strikes: strikes, isAPNsIll: false, roles: Role.separate))
      let report = try chaos.run()
      print("chaos: rolling restarts, seed \(seed): \(report.summary)")
      #expect(report.problems.isEmpty, "seed \(seed)\n\(chaos.installation.logs())")
      #expect(report.drains.count == strikes.count)
      #expect(report.ledger.repeated == 0, "seed \(seed)")
    }
  }
}
