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
      var failed: [UInt64] = []
      for round in 0..<rounds {
        let schedule = StrikeSchedule(
          seed: first + round, more: Int(Self.number("MORE") ?? 0),
          longest: .milliseconds(Int(Self.number("LONGEST_MS") ?? 600)))
        let plan = ChaosRound.Plan(
          seed: first + round, mutations: Int(Self.number("MUTATIONS") ?? 300),
          strikes: schedule.strikes, isAPNsIll: true)
        print("chaos: round \(round + 1) of \(rounds), seed \(plan.seed)")
        fflush(nil)
        if try !Self.holds(plan) { failed.append(plan.seed) }
      }
      let seeds = failed.map(String.init).joined(separator: ", ")
      print(
        "chaos: \(rounds) rounds: \(Int(rounds) - failed.count) ok, \(failed.count) failed"
          + (failed.isEmpty ? "" : " (seeds \(seeds))"))
      fflush(nil)
    }

    /// Plays one round and prints its verdict. One that cannot be played to its end has failed too,
    /// and keeps none of those after it from being played.
    private static func holds(_ plan: ChaosRound.Plan) throws -> Bool {
      do {
        let chaos = try ChaosRound(plan)
        let report = try chaos.run()
        var problems = report.problems
        if report.recoveries.count != plan.strikes.count(where: { $0.what == .killBroker }) {
          problems.append("\(report.recoveries.count) recoveries of the broker were seen")
        }
        let verdict = problems.isEmpty ? "ok" : "FAILED, \(problems.count) problems"
        print("chaos: seed \(plan.seed): \(verdict): \(report.summary)")
        for problem in problems.prefix(20) { print("chaos: seed \(plan.seed): \(problem)") }
        for story in report.ledger.stories.prefix(3) { print("chaos: \(story)") }
        fflush(nil)
        #expect(
          problems.isEmpty,
          """
          seed \(plan.seed), \(problems.count) problems:
          \(problems.prefix(10).joined(separator: "\n"))
          \(report.ledger.stories.prefix(3).joined(separator: "\n"))
          strikes: \(report.strikes.joined(separator: "; "))
          \(chaos.installation.logs())
          """)
        return problems.isEmpty
      } catch {
        print("chaos: seed \(plan.seed): FAILED, not played to its end: \(error)")
        fflush(nil)
        Issue.record("seed \(plan.seed): \(error)")
        return false
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
