import Foundation
import HTTPClient
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  /// What is made of queues.yaml for Prometheus, KEDA and Grafana.
  @Suite struct ExportTests {
    private static let promtool = URL(filePath: "/usr/bin/promtool")
    private static let prometheus = Programs.repository.appending(path: "deploy/prometheus")
    private static let files = [
      "alerts": "deploy/prometheus/alerts.yaml", "keda": "deploy/kubernetes/keda.yaml",
      "dashboard": "deploy/grafana/lockstep.json",
    ]

    private static func text(_ path: String) throws -> String {
      try String(contentsOf: Programs.repository.appending(path: path), encoding: .utf8)
    }

    @Test(arguments: ["alerts", "keda", "dashboard"])
    func `The files in deploy are those that queues.yaml makes`(form: String) throws {
      let made = try Programs.lockstep("topology", "export", "--\(form)", environment: exporting)
      try #require(made.code == 0, "\(made.errors)")
      let path = try #require(Self.files[form])
      let file = Programs.repository.appending(path: path)
      if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] != nil {
        try Data(made.output.utf8).write(to: file)
      }
      #expect(
        try Self.text(path) == made.output,
        "lockstep topology export --\(form) > \(path) brings it up to date")
    }

    private var exporting: [String: String] {
      ["LOCKSTEP_QUEUES_FILE": Programs.queuesFile.path(percentEncoded: false)]
    }

    @Test func `Two forms at once are refused`() throws {
      let outcome = try Programs.lockstep(
        "topology", "export", "--alerts", "--keda", environment: exporting)
      #expect(outcome.code == 64)
    }

    @Test(arguments: [
      ["check", "rules", "alerts.yaml"], ["test", "rules", "alerts_test.yaml"],
      ["check", "config", "prometheus.yaml"],
    ])
    func `Prometheus takes the rules, and they say what they should`(words: [String]) throws {
      let file = Self.prometheus.appending(path: words[2]).path(percentEncoded: false)
      let outcome = try Programs.run(Self.promtool, [words[0], words[1], file])
      #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    }

    // MARK: Names of metrics

    /// All that a PromQL text names, without the endings of a histogram.
    private func metrics(in text: String) -> Set<String> {
      let names = text.matches(of: /\b(?:lockstep|rabbitmq|process)_[a-z_]+\b/)
        .filter { !text[$0.range.upperBound...].hasPrefix("\":") }
      return Set(names.map { String($0.output.replacing(/_(bucket|sum|count)$/) { _ in "" }) })
    }

    /// All that an exposition announces.
    private func announced(in text: String) -> Set<String> {
      Set(text.matches(of: #/(?m)^# TYPE (\S+) /#).map { String($0.output.1) })
    }

    /// The PromQL of the generated files, one expression after the other.
    private func expressions() throws -> String {
      let alerts = try Self.text("deploy/prometheus/alerts.yaml").split(separator: "\n")
        .filter { !$0.hasPrefix("#") && !$0.contains("summary:") && !$0.contains("runbook_url:") }
      let dashboard = try JSONValue(parsing: Data(Self.text("deploy/grafana/lockstep.json").utf8))
      guard case .array(let panels)? = dashboard["panels"] else { throw Unexpected("no panels") }
      let queries = panels.flatMap { panel -> [String] in
        guard case .array(let targets)? = panel["targets"] else { return [] }
        return targets.compactMap { $0["expr"]?.text }
      }
      try #require(queries.count > 30)
      return (alerts.map(String.init) + queries).joined(separator: "\n")
    }

    @Test func `Each metric that is asked for is told by a role or by RabbitMQ, each queue exists`()
      throws
    {
      let node = try PrivateBroker()
      let installation = try Installation(
        broker: try BrokerUnderTest(url: try node.url, managementURL: try node.managementURL))
      let key = installation.directory.appending(path: "vapid.pem").path(percentEncoded: false)
      try #require(try Programs.lockstep("vapid", "generate", "--to", key).code == 0)
      installation.settings["LOCKSTEP_VAPID_KEY_FILE"] = key
      installation.settings["LOCKSTEP_VAPID_SUBJECT"] = "mailto:ops@app.example"
      try installation.offerFCM()
      try installation.applyTopology()
      for role in [Role.simulator, .run] { try installation.start(role) }
      let ask = {
        try HTTPClient().send(
          "GET",
          try node.prometheusURL + "/metrics/detailed?family=queue_coarse_metrics"
            + "&family=queue_consumer_count&family=channel_queue_metrics"
            + "&vhost=\(installation.broker.virtualHost)"
        ).text
      }
      let text = try expressions()
      let queues = Set(text.matches(of: /[{,]queue="([^"]+)"/).map { String($0.output.1) })
      #expect(queues.count > 10)
      var rabbit = ""
      var missing = queues
      // A queue tells its figures some seconds after it was made.
      try installation.wait(for: "RabbitMQ to tell of every queue") {
        rabbit = try ask()
        missing = queues.filter { !rabbit.contains("queue=\"\($0)\"") }
        return missing.isEmpty
      }
      let whole = try HTTPClient().send("GET", try node.prometheusURL + "/metrics").text
      let known = announced(in: try installation.metrics(of: .run))
        .union(announced(in: rabbit)).union(announced(in: whole))
      let asked = metrics(in: text)
      #expect(asked.count > 30)
      #expect(asked.subtracting(known).sorted() == [], "nobody tells these")
    }

    // MARK: Runbook

    @Test func `The runbook has a heading for each alert, and says what it means and what to do`()
      throws
    {
      let rules = try Self.text("deploy/prometheus/alerts.yaml")
      let alerts = Set(rules.matches(of: /- alert: (\w+)/).map { String($0.output.1) })
      #expect(alerts.count > 15)
      let parts = try Self.text("deploy/RUNBOOK.md").components(separatedBy: "\n## ").dropFirst()
      let headings = parts.map { String($0.prefix { $0 != "\n" }) }
      #expect(Set(headings.filter { $0.hasPrefix("Lockstep") }) == alerts)
      #expect(Set(headings).count == headings.count)
      for (heading, part) in zip(headings, parts) where alerts.contains(heading) {
        for word in ["**Means**", "**Look**", "**Do**"] {
          #expect(part.contains(word), "\(heading) has no \(word)")
        }
        #expect(rules.contains("runbook_url: deploy/RUNBOOK.md#\(heading.lowercased())\n"))
      }
    }
  }
}
