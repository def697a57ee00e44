import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// The app developer's guide does what it says.
  @Suite struct GuideTests {
    private static let guide = Programs.repository.appending(
      path: "Sources/ActivityContracts/Documentation.docc/FiveMinutes.md")

    /// The blocks of one language, in their order.
    private static func blocks(_ language: String) throws -> [String] {
      let text = try String(contentsOf: guide, encoding: .utf8)
      return text.split(separator: "\n```\(language)\n").dropFirst().map { part in
        String(part[..<(part.range(of: "\n```")?.lowerBound ?? part.endIndex)])
      }
    }

    @Test func `every command of the guide does what it says`() throws {
      let installation = try Installation()
      installation.settings[Installation.contractsSetting] =
        Installation.contractsFolder.path(percentEncoded: false)
      try installation.applyTopology()
      for role in [Role.simulator, .api, .payloadBuilder, .apnsSender, .notifier] {
        try installation.start(role)
      }
      // What `deploy/demo` leaves for a second terminal.
      let folder = installation.directory.path(percentEncoded: false)
      let addresses = """
        export PATH="\(Programs.directory.path(percentEncoded: false)):$PATH"
        export API=\(installation.apiURL) SIMULATOR=\(installation.simulatorURL)
        """
      try Data(addresses.utf8).write(to: installation.directory.appending(path: "addresses"))
      let blocks = try Self.blocks("sh")
      try #require(blocks.count == 8)
      let repository = Programs.repository.path(percentEncoded: false)
      let script = (["set -euo pipefail", "cd '\(repository)'"] + blocks)
        .joined(separator: "\n").replacing("/tmp/demo", with: folder)
      let outcome = try Programs.run(
        URL(filePath: "/bin/bash"), ["-c", script],
        environment: ["PATH": "/usr/local/bin:/usr/bin:/bin"], within: .seconds(120))
      try #require(outcome.code == 0, "\(outcome.errors)\n\(installation.logs())")
      #expect(outcome.output.contains("422\n"))
      // The list has ended, the order goes on.
      try installation.phones.awaitTruth(cards: 2)
      try compile(in: installation.directory)
    }

    /// The Swift of the guide, with the struct that its second step wrote.
    private func compile(in directory: URL) throws {
      let source = directory.appending(path: "Guide.swift")
      let snippets = try Self.blocks("swift")
      try #require(snippets.count == 1)
      try Data(snippets.joined(separator: "\n").utf8).write(to: source)
      let written = directory.appending(path: "ShoppingActivityAttributes.swift")
      let path = try #require(ProcessInfo.processInfo.environment["PATH"])
      let outcome = try Programs.run(
        URL(filePath: "/usr/bin/env"),
        ["swiftc", "-swift-version", "6", "-warnings-as-errors", "-typecheck"]
          + [written, source].map { $0.path(percentEncoded: false) },
        environment: ["PATH": path, "HOME": directory.path(percentEncoded: false)],
        within: .seconds(300))
      #expect(outcome.code == 0, "\(outcome.errors)")
    }
  }
}
