import Foundation
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  @Suite struct RollingRestartTests {
    @Test func `Each process is replaced under load, and nothing is lost, doubled or disordered`()
      throws
    {
      let installation = try Installation(running: [.simulator])
      try installation.record()
      let crew = try Crew(of: installation)
      try installation.phones.add("jaqueline")
      let play = try Play(installation, sessions: 6)
      try crew.replaceEach(working: play.dither)
      // While each one starts and while each one ends.
      #expect(play.picks >= 2 * crew.replaced * Play.picksAtOnce)
      #expect(crew.replaced == 8)
      try installation.expectAllArrived(sessions: 6)
      try play.decide()
      try installation.expectAllArrived(sessions: 6)
      try installation.expectEachEventOnce(play)
      try crew.dismissAll()
    }

    // MARK: Backup

    private static let deploy = Programs.repository.appending(path: "deploy")

    private func database(_ installation: Installation) -> String {
      installation.directory.appending(path: "lockstep.sqlite").path(percentEncoded: false)
    }

    private func run(_ script: String, _ arguments: String...) throws -> String {
      let outcome = try Programs.run(Self.deploy.appending(path: script), arguments)
      try #require(outcome.code == 0, "\(script): \(outcome.errors)")
      return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func `A copy taken under load is whole, and after a restore the phones follow again`()
      throws
    {
      let installation = try Installation(running: [.simulator])
      let crew = try Crew(of: installation)
      try installation.phones.add("jaqueline")
      let play = try Play(installation, sessions: 3)
      for _ in 0..<30 { try play.pick() }
      let folder = installation.directory.appending(path: "backups").path(percentEncoded: false)
      let script = Self.deploy.appending(path: "backup").path(percentEncoded: false)
      let copying = try installation.spawn(
        "backup", URL(filePath: "/bin/bash"), [script, database(installation), folder, "2"])
      try installation.wait(for: "the backup to end") {
        try play.pick()
        return !copying.isRunning
      }
      #expect(copying.exitCode(within: .seconds(1)) == 0)
      let copy = try installation.logText("backup").trimmingCharacters(in: .newlines)
      let before = try play.sessions.map { try $0.rev() }
      for _ in 0..<30 { try play.pick() }
      try installation.expectAllArrived(sessions: 3)

      // The phones have seen more than the copy knows.
      try crew.dismissAll()
      _ = try run("restore", copy, database(installation))
      try crew.hireAll()
      for (session, rev) in zip(play.sessions, before) {
        #expect(try session.rev() > rev, "the restored session is ahead of every phone")
      }
      try play.pickAfterRestore()
      try installation.expectAllArrived(sessions: 3)
      try play.decide()
      try installation.expectAllArrived(sessions: 3)
      try crew.dismissAll()
    }

    @Test func `A backup keeps the newest copies, and says what it cannot copy`() throws {
      let installation = try Installation(running: [.api])
      let folder = installation.directory.appending(path: "backups").path(percentEncoded: false)
      var copies: [String] = []
      for _ in 0..<3 {
        // Their names differ by the second.
        try installation.wait(for: "the next second") {
          let copy = try run("backup", database(installation), folder, "2")
          guard copy != copies.last else { return false }
          copies.append(copy)
          return true
        }
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".sqlite") }.sorted()
      #expect(left == copies.suffix(2).map { URL(filePath: $0).lastPathComponent })
      for (arguments, code) in [
        (["/nowhere/x.sqlite", folder], 66), ([database(installation)], 64),
        ([database(installation), folder, "many"], 64),
        ([Programs.queuesFile.path(percentEncoded: false), folder], 74),
      ] as [([String], Int32)] {
        let outcome = try Programs.run(Self.deploy.appending(path: "backup"), arguments)
        #expect(outcome.code == code, "\(arguments): \(outcome.errors)")
        #expect(outcome.errors.contains("backup: "))
      }
    }
  }
}
