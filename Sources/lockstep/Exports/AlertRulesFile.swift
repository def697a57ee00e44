import RabbitMQBroker

/// `deploy/prometheus/alerts.yaml`.
enum AlertRulesFile {
  static func text(_ topology: Topology) -> String {
    let head = GeneratedFile.head(
      "--alerts", ["Each alert has a heading in \(AlertRule.runbook)."])
    let groups = [
      ("lockstep-queues", QueueAlerts(topology: topology).rules),
      ("lockstep-roles", RoleAlerts.rules),
    ]
    let lines = groups.flatMap { name, rules in
      ["  - name: \(name)", "    rules:"] + rules.flatMap(\.yaml)
    }
    return (head.map { "# \($0)" } + ["groups:"] + lines).joined(separator: "\n")
  }
}
