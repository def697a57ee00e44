import Vocabulary

/// One Prometheus alert. Its name is also its heading in `deploy/RUNBOOK.md`.
struct AlertRule {
  enum Severity: String {
    /// Somebody is woken.
    case page
    /// Somebody looks at it during the day.
    case ticket
  }

  let name: String
  /// The queue it is about; a label, so that one name may have a rule for each.
  var queue: String?
  /// PromQL; may have several lines.
  let expression: String
  /// How long it must be true.
  let lasting: Duration
  let severity: Severity
  /// One sentence; may hold Prometheus' templates.
  let summary: String

  /// Where the runbook is, from the repository's root.
  static let runbook = "deploy/RUNBOOK.md"

  var yaml: [String] {
    let lines = expression.split(separator: "\n")
    let expression =
      lines.count == 1
      ? ["        expr: \(lines[0])"]
      : ["        expr: |-"] + lines.map { "          " + $0 }
    return ["      - alert: \(name)"] + expression + [
      "        for: \(Self.written(lasting))",
      "        labels: { \(queue.map { "queue: \($0), " } ?? "")severity: \(severity.rawValue) }",
      "        annotations:",
      "          summary: '\(summary.replacing("'", with: "''"))'",
      "          runbook_url: \(Self.runbook)#\(name.lowercased())",
    ]
  }

  /// `90s` or `2m`, as Prometheus reads it.
  static func written(_ span: Duration) -> String {
    let seconds = span.components.seconds
    return seconds.isMultiple(of: 60) && seconds > 0 ? "\(seconds / 60)m" : "\(seconds)s"
  }
}

/// What stands at the top of every generated file.
enum GeneratedFile {
  static func head(_ option: String, _ lines: [String]) -> [String] {
    ["Made of queues.yaml by `lockstep topology export \(option)`; change that, not this."] + lines
  }
}
