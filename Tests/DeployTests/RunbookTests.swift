import Foundation
import Testing

@Suite struct RunbookTests {
  /// Sources of what runs in a deployment.
  private func sources() throws -> [(path: String, text: String)] {
    let names = FileManager.default.enumerator(atPath: Tools.path("Sources"))
    return try (names?.allObjects as? [String] ?? [])
      .filter {
        $0.hasSuffix(".swift") && !$0.hasPrefix("Simulator/") && !$0.hasPrefix("Demo/")
      }
      .map { ($0, try Tools.text("Sources/\($0)")) }
  }

  /// What the log calls an error: `log.error("…")`, one of two words, or the alarms of a stage.
  private func alarms() throws -> [(path: String, words: String)] {
    let call = #/log\.error\(\s*(?:[^"()]*\? )?"([^"]+)"(?: : "([^"]+)")?/#
    let alarm = #/ alarm\(\s*\w+, "([^"]+)"/#
    return try sources().flatMap { path, text in
      text.matches(of: call).flatMap { match in
        [(path, String(match.1))] + (match.2.map { [(path, String($0))] } ?? [])
      } + text.matches(of: alarm).map { (path, String($0.1)) }
    }
  }

  private func headings() throws -> Set<String> {
    Set(
      try Tools.text("deploy/RUNBOOK.md").split(separator: "\n")
        .filter { $0.hasPrefix("## ") }.map { String($0.dropFirst(3)) })
  }

  @Test func `each alarm has a heading in the runbook`() throws {
    let (alarms, headings) = (try alarms(), try headings())
    #expect(alarms.count > 15)
    for alarm in alarms {
      let advice =
        "say in deploy/RUNBOOK.md, under a heading of these words, what it means, "
        + "where to look, what to do, and how to verify"
      #expect(
        headings.contains(alarm.words),
        "Sources/\(alarm.path) logs the error \"\(alarm.words)\": \(advice)")
    }
  }

  @Test func `the files and metrics that the runbook names exist`() throws {
    let runbook = try Tools.text("deploy/RUNBOOK.md")
    for match in runbook.matches(of: #/\bdeploy\/[a-zA-Z\/-]+[a-zA-Z]/#) {
      #expect(FileManager.default.fileExists(atPath: Tools.path(String(match.0))), "\(match.0)")
    }
    let code = try sources().map(\.text).joined()
    for match in runbook.matches(of: #/lockstep_[a-z_]+/#) {
      #expect(code.contains("\"\(match.0)\""), "\(match.0) is no metric")
    }
    for match in runbook.matches(of: #/LOCKSTEP_[A-Z_]+/#) {
      #expect(try Tools.knownSettings().contains(String(match.0)), "\(match.0) is no setting")
    }
  }
}
