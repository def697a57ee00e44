import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

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

  @Test func `a reading is asked for when the text is made`() {
    let metrics = Metrics()
    let source = metrics.counter("lockstep_c_total", help: "C.")
    metrics.reading("lockstep_twice", help: "Twice that.") { Double(source.value * 2) }
    metrics.reading("lockstep_spent_total", help: "Spent.", isCounter: true) { 0.5 }
    source.add(3)
    let text = metrics.text()
    #expect(text.contains("# TYPE lockstep_twice gauge\nlockstep_twice 6\n"))
    #expect(text.contains("# TYPE lockstep_spent_total counter\nlockstep_spent_total 0.5\n"))
  }

  @Test func `what is announced stands there before anything is counted`() {
    let metrics = Metrics()
    metrics.announce("lockstep_c_total", help: "C.", type: "counter")
    #expect(metrics.text() == "# HELP lockstep_c_total C.\n# TYPE lockstep_c_total counter\n")
    metrics.counter("lockstep_c_total", help: "C.", labels: ["a": "b"]).add()
    metrics.announce("lockstep_c_total", help: "C.", type: "counter")
    #expect(metrics.text().hasSuffix("\nlockstep_c_total{a=\"b\"} 1\n"))
  }

  @Test func `the process tells its time, memory and descriptors`() throws {
    let metrics = Metrics()
    ProcessMetrics.add(to: metrics, startedAt: UnixTime(seconds: 1_700_000_000))
    let values = metrics.text().split(separator: "\n").filter { !$0.hasPrefix("#") }
      .reduce(into: [Substring: Double]()) { values, line in
        let parts = line.split(separator: " ")
        values[parts[0]] = Double(parts[1])
      }
    #expect(values["process_start_time_seconds"] == 1_700_000_000)
    #expect(try #require(values["process_cpu_seconds_total"]) > 0)
    #expect(try #require(values["process_resident_memory_bytes"]) > 1_000_000)
    let open = try #require(values["process_open_fds"])
    let most = try #require(values["process_max_fds"])
    #expect(open > 2 && open < most)
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
