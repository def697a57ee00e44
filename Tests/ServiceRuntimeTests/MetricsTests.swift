import ServiceRuntime
import TestSupport
import Testing

@Suite struct MetricsTests {
  @Test func `the text is Prometheus' own, sorted`() {
    let metrics = Metrics()
    metrics.gauge("lockstep_outbox_events", help: "Events that wait.").set(3)
    let pushes = "lockstep_pushes_total"
    metrics.counter(pushes, help: "Pushes.", labels: ["status": "410", "reason": "Gone"]).add()
    metrics.counter(pushes, help: "Pushes.", labels: ["reason": "", "status": "200"]).add(41)
    metrics.gauge("lockstep_oldest_seconds", help: "Age.").set(0.25)
    #expect(
      metrics.text() == """
        # HELP lockstep_oldest_seconds Age.
        # TYPE lockstep_oldest_seconds gauge
        lockstep_oldest_seconds 0.25
        # HELP lockstep_outbox_events Events that wait.
        # TYPE lockstep_outbox_events gauge
        lockstep_outbox_events 3
        # HELP lockstep_pushes_total Pushes.
        # TYPE lockstep_pushes_total counter
        lockstep_pushes_total{reason="",status="200"} 41
        lockstep_pushes_total{reason="Gone",status="410"} 1

        """)
  }

  @Test func `a histogram's buckets add up, bounds belong to them`() {
    let metrics = Metrics()
    let histogram = metrics.histogram(
      "lockstep_wait_seconds", help: "Wait.", buckets: [0.1, 1, 10], labels: ["stage": "apns"])
    for value in [0.1, 0.11, 1, 5, 10.5] { histogram.observe(value) }
    #expect(
      metrics.text() == """
        # HELP lockstep_wait_seconds Wait.
        # TYPE lockstep_wait_seconds histogram
        lockstep_wait_seconds_bucket{stage="apns",le="0.1"} 1
        lockstep_wait_seconds_bucket{stage="apns",le="1"} 3
        lockstep_wait_seconds_bucket{stage="apns",le="10"} 4
        lockstep_wait_seconds_bucket{stage="apns",le="+Inf"} 5
        lockstep_wait_seconds_sum{stage="apns"} 16.71
        lockstep_wait_seconds_count{stage="apns"} 5

        """)
  }

  @Test func `a histogram without labels has only its bounds in braces`() {
    let metrics = Metrics()
    metrics.histogram("lockstep_h", help: "H.", buckets: [1]).observe(2)
    #expect(
      metrics.text() == """
        # HELP lockstep_h H.
        # TYPE lockstep_h histogram
        lockstep_h_bucket{le="1"} 0
        lockstep_h_bucket{le="+Inf"} 1
        lockstep_h_sum 2
        lockstep_h_count 1

        """)
  }

  @Test func `label values are escaped`() {
    let metrics = Metrics()
    metrics.counter("lockstep_c", help: "C.", labels: ["r": "a\"b\\c\nd"]).add()
    #expect(metrics.text().contains(#"lockstep_c{r="a\"b\\c\nd"} 1"#))
  }

  @Test func `the same name and labels are the same metric, from any thread`() {
    let metrics = Metrics()
    let threads = (0..<4).map { number in
      OwnedThread.start(named: "count \(number)") {
        for _ in 0..<1000 { metrics.counter("lockstep_c", help: "C.").add() }
      }
    }
    #expect(becomesTrue { threads.allSatisfy(\.hasEnded) })
    #expect(metrics.counter("lockstep_c", help: "C.").value == 4000)
  }
}
