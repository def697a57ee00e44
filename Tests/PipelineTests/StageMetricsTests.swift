import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

@Suite struct StageMetricsTests {
  private let time = ManualTime()
  private let broker: FakeBroker
  private let worker: Worker
  private let metrics = Metrics()

  init() {
    broker = FakeBroker(time: time)
    worker = Worker(
      route: Samples.routes[.apns], link: broker.link(to: .apns), stage: StubStage(), time: time,
      log: .discarding, metrics: metrics)
  }

  private func put(madeBefore age: Duration?, attempts: Int64? = nil) {
    broker.put(
      Message(
        id: "m", type: "t", contentType: "c",
        headers: attempts.map { [RetryHeader.attempt: .integer($0)] } ?? [:], body: Data(),
        timestamp: age.map { time.now() - $0 }),
      into: "apns", exchange: "apns", key: "apns")
  }

  @Test func `every outcome stands there from the beginning`() {
    for outcome in Disposition.outcomes {
      #expect(metrics.text().contains("{outcome=\"\(outcome)\",stage=\"apns\"} 0\n"))
    }
    let all: [Disposition] = [
      .done, .stale, .superseded(because: ""), .expired, .retry(notBefore: .zero, because: ""),
      .park(notBefore: .zero), .dead(because: ""), .handBack,
    ]
    #expect(all.map(\.outcome) == Disposition.outcomes)
  }

  @Test func `the age of what is taken is counted once, and never below zero`() throws {
    put(madeBefore: .seconds(20))
    put(madeBefore: .seconds(-3))
    put(madeBefore: nil)
    put(madeBefore: .seconds(500), attempts: 1)
    _ = try worker.turn()
    let text = metrics.text()
    #expect(text.contains("lockstep_stage_age_seconds_count{stage=\"apns\"} 2\n"))
    #expect(text.contains("lockstep_stage_age_seconds_sum{stage=\"apns\"} 20\n"))
    #expect(text.contains("lockstep_stage_received_total{stage=\"apns\"} 4\n"))
  }

  @Test func `critical time is told apart by activity`() throws {
    let rig = SenderRig()
    try rig.register(1)
    _ = try rig.push(try rig.job(1), try rig.job(2, .alert))
    let name = "lockstep_critical_time_seconds_count"
    #expect(rig.counted.contains("\(name){activity=\"cooksuggest\"} 0\n"))
    // The rig's contexts have names that no activity has.
    #expect(rig.counted.contains("\(name){activity=\"other\"} 1\n"))
    #expect(rig.counted.contains("\(name){activity=\"none\"} "))
  }
}
