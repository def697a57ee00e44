import Foundation
import Testing

/// What must agree with what: settings with their example, names with queues.yaml, the README with
/// the files.
@Suite struct RepositoryTests {
  @Test func `nothing but the allowed entries stands at the top`() throws {
    let allowed: Set<String> = [
      ".build", ".ci", ".git", ".gitignore", ".swift-format", ".swiftpm", "LICENSE",
      "Package.swift", "README.md", "Sources", "Tests", "deploy", "queues.yaml",
    ]
    let entries = try FileManager.default.contentsOfDirectory(
      atPath: SourceTree.root.path(percentEncoded: false))
    expectNone(
      Set(entries).subtracting(allowed).sorted().map {
        Finding($0, "does not belong at the top: put it into deploy, Sources or Tests")
      })
  }

  // MARK: Settings

  private static let example = "deploy/environment.example"

  private static var shownSettings: Set<String> {
    let text = SourceTree.text(example) ?? ""
    return Set(text.matches(of: #/(?m)^#?\s?((?:LOCKSTEP|OTEL)_[A-Z0-9_]+)=/#).map { String($0.1) })
  }

  /// Where each setting is read: spelled whole, asked of a SettingsReader, or in the catalog.
  private static var usedSettings: [(name: String, finding: Finding)] {
    let whole = #/LOCKSTEP_[A-Z][A-Z0-9_]*/#
    let asked =
      #/(?:ext|integer|seconds|value|required|refuse|init)\((?:name: )?"([A-Z][A-Z0-9_]+)"/#
    let advice = "is a setting that \(example) does not show: add it there with its default"
    return SourceTree.sources.flatMap { file in
      file.lines.enumerated().flatMap { place, line in
        let names =
          line.matches(of: whole).map { String($0.0) }
          + line.matches(of: asked).map { $0.1.hasPrefix("OTEL_") ? "\($0.1)" : "LOCKSTEP_\($0.1)" }
        return names.map { ($0, Finding(file.path, line: place + 1, "\($0) \(advice)")) }
      }
    }
  }

  @Test func `every setting that is read is shown in the example`() {
    guard SourceTree.exists(Self.example) else {
      let names = Set(Self.usedSettings.map(\.name)).sorted().joined(separator: ", ")
      expectNone([Finding(Self.example, "is missing; it must show \(names)")])
      return
    }
    let shown = Self.shownSettings
    expectNone(Self.usedSettings.filter { !shown.contains($0.name) }.map(\.finding))
  }

  @Test func `every setting in the example is read`() {
    let used = Set(Self.usedSettings.map(\.name))
    #expect(used.count > 10)
    expectNone(
      Self.shownSettings.subtracting(used).sorted().map {
        Finding(Self.example, "shows \($0), which nothing reads: take it out")
      })
  }

  // MARK: Names of queues

  /// The values of `queue:` and `exchange:` in queues.yaml.
  private static var queueNames: Set<String> {
    let text = (SourceTree.text("queues.yaml") ?? "").split(separator: "\n")
      .map { $0.prefix { $0 != "#" } }.joined(separator: "\n")
    return Set(
      text.matches(of: #/\b(?:queue|exchange): *([A-Za-z0-9._-]+)/#).map { String($0.1) })
  }

  /// The words of queues.yaml's own grammar and the names derived from it are spelled here.
  private static let topologyFolder = "Sources/RabbitMQBroker/Topology/"

  /// Lines of code in which such a word means something else.
  private static let otherMeanings: [(path: String, words: Set<String>)] = [
    // A route of the control API.
    ("Sources/Simulator/Control/ControlAPI.swift", ["events"]),
    // A service's name in certificates and in the ready line.
    ("Sources/Simulator/Control/SimulatorCertificates.swift", ["apns"]),
    ("Sources/Simulator/Control/Simulator.swift", ["apns", "fcm"]),
    // Words of the log and of `lockstep_stage_messages_total`.
    ("Sources/Pipeline/Worker.swift", ["dead"]),
    // A service's name in traces.
    ("Sources/Pipeline/Stages/PushTraces.swift", ["apns", "webpush"]),
    ("Sources/Pipeline/Disposition.swift", ["dead"]),
    // The kind of a token, and what a job's id is made of.
    ("Sources/Pipeline/Stages/FCM/FCMJobsOfState.swift", ["fcm"]),
    // A word of faults and of the log of pushes; a service's name in the ready line.
    ("Sources/Simulator/FCM/FCMService.swift", ["fcm"]),
    // A word of that log.
    ("Sources/Demo/SimulatedPhones.swift", ["fcm"]),
    // What is counted in recordings, reports and progress; a fate of the ledger.
    ("Sources/Replay/Recording/RecordedLine.swift", ["events"]),
    ("Sources/Replay/Report/ReportPage.swift", ["events", "dead"]),
    ("Sources/lockstep/LoadTests/Telling.swift", ["events"]),
    // The command `lockstep dead`.
    ("Sources/lockstep/Commands.swift", ["dead"]),
    ("Sources/lockstep/Dead/DeadCommand.swift", ["dead"]),
    // A column of `lockstep queues`.
    ("Sources/lockstep/Queues/ShownQueues.swift", ["dead"]),
    // The program outside of the pipeline that queues.yaml names; a client's and a caller's name.
    ("Sources/Demo/Kitchen.swift", ["kitchen"]), ("Sources/Demo/Demo.swift", ["kitchen"]),
  ]

  @Test func `queues.yaml alone spells the names of queues`() {
    let names = Self.queueNames
    #expect(names.isSuperset(of: ["build", "apns", "notify", "kitchen", "unroutable", "events"]))
    let literal = #/"((?:[^"\\]|\\.)*)"/#
    let findings = SourceTree.sources.filter { !$0.path.hasPrefix(Self.topologyFolder) }
      .flatMap { file in
        let spared = Self.otherMeanings.filter { $0.path == file.path }
          .reduce(into: Set<String>()) { $0.formUnion($1.words) }
        return file.lines.enumerated().flatMap { place, line in
          line.matches(of: literal).map { String($0.1) }.filter { text in
            let isName = names.contains(text) && !spared.contains(text)
            return isName || text.hasPrefix("dead.") || text.hasPrefix("retry.")
          }.map {
            Finding(
              file.path, line: place + 1,
              "spells \"\($0)\": take it from Routes, or from a StageName's raw value")
          }
        }
      }
    expectNone(findings)
  }

  // MARK: README

  @Test func `the files that the README names exist`() {
    guard let readme = SourceTree.text("README.md") else {
      expectNone([Finding("README.md", "is missing: what it is, one picture, two commands")])
      return
    }
    let links = #/\]\(([^)#\s]+)(?:#[^)]*)?\)/#
    let quoted = #/`((?:Sources|Tests|deploy|\.ci)/[^`\s<>{}*…]+)`/#
    let findings = readme.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
      .flatMap { place, line in
        let named =
          line.matches(of: links).map { String($0.1) }
          + line.matches(of: quoted).map { String($0.1) }
        return named.filter { !$0.contains("://") && !SourceTree.exists($0) }.map {
          Finding("README.md", line: place + 1, "names \($0), which does not exist: mend the path")
        }
      }
    expectNone(findings)
  }

  @Test func `every C library has its module map`() {
    expectNone(
      ImportTests.libraries.keys.sorted()
        .filter { !SourceTree.exists("Sources/CLibraries/\($0)/module.modulemap") }
        .map { Finding("Sources/CLibraries/\($0)", "has no module map") })
  }
}
