import ServiceRuntime
import Testing

@Suite struct HealthTests {
  @Test func `well while no part has trouble`() {
    let health = Health()
    #expect(health.readiness == .ok)
    health.report("broker", trouble: "connection refused")
    health.report("broker", trouble: nil)
    #expect(health.readiness == .ok)
  }

  @Test func `a degraded process still serves, unless something stops it`() {
    let health = Health()
    health.report("outbox", trouble: "filling", effect: .degrades)
    #expect(health.readiness == .degraded(["outbox: filling"]))
    health.report("broker", trouble: "away")
    #expect(health.readiness == .notReady(["broker: away", "outbox: filling"]))
    #expect(health.readiness.line == "not ready: broker: away; outbox: filling")
  }

  @Test func `the first failure is the one that counts`() {
    let failure = FirstFailure()
    #expect(failure.reason == nil)
    failure.note(CommandFailure(.unavailable, "first"))
    failure.note(CommandFailure(.software, "second"))
    #expect(failure.reason?.description == "first")
    #expect(failure.reason?.code == .unavailable)
  }
}
