import Foundation
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  @Suite struct RollingRestartTests {
    /// Sessions that go on all the time, each with its own pair of people; one mutation a call.
    private final class Play {
      private let installation: Installation
      private(set) var sessions: [CookSession] = []
      private(set) var picks = 0
      /// The newest rev that was answered for, by session.
      private(set) var revs: [String: Int] = [:]

      init(_ installation: Installation, sessions count: Int) throws {
        self.installation = installation
        for _ in 0..<count { try begin() }
      }

      func begin() throws {
        let session = try CookSession.begin(in: installation)
        try session.playToProposals()
        sessions.append(session)
      }

      /// Jaqueline dithers.
      func pick() throws {
        let session = sessions[picks % sessions.count]
        let turn = picks / sessions.count
        let answer = try session.act(
          "jaqueline", "pick", ["proposal_id": .string("p\(turn % 2 + 1)")])
        picks += 1
        let rev = try #require(answer["rev"]?.whole)
        #expect(rev > revs[session.id] ?? 0, "what was answered for stays")
        revs[session.id] = rev
      }

      /// Two picks in each session, of which one at least changes something: what was picked last
      /// is not known any more.
      func pickAfterRestore() throws {
        revs = [:]
        let before = try sessions.map { try $0.rev() }
        for _ in 0..<2 {
          for session in sessions {
            let other = picks / sessions.count % 2 + 1
            try session.act("jaqueline", "pick", ["proposal_id": .string("p\(other)")])
            picks += 1
          }
        }
        for (session, rev) in zip(sessions, before) { #expect(try session.rev() > rev) }
      }

      /// As many as come while nobody looks.
      func dither() throws { for _ in 0..<5 { try pick() } }

      func decide() throws { for session in sessions { try session.playToDecision() } }
    }

    /// Every phone shows the truth; each session was announced once and began once on a phone.
    private func expectAllArrived(_ installation: Installation, sessions: Int) throws {
      var verdict = JSONValue.null
      do {
        try installation.wait(for: "every phone to show the truth") {
          verdict = try installation.phones.verdict()
          let faults = ["different", "missing", "overdue_banners", "calls_waiting"]
          return verdict["compared"]?.whole == sessions && verdict["unknown"] == []
            && faults.allSatisfy { verdict[$0] == 0 }
        }
      } catch {
        throw Unexpected("verdict: \(String(decoding: verdict.encoded, as: UTF8.self))\n\(error)")
      }
      // Two senders may be turned round within a second; the newest is sent once more (README,
      // Limits). Nothing else may be complained of.
      #expect(verdict["complaint_count"] == verdict["older_shown"], "\(verdict)")
      #expect(verdict["doubled_starts"] == 0)
      #expect(verdict["starts"]?.whole == sessions)
      #expect(verdict["sounds"]?.whole == sessions, "each invitation is heard once")
      for queue in ["dead.build", "dead.apns", "dead.notify", "unroutable"] {
        #expect(try installation.messages(in: queue).isEmpty, "\(queue)")
      }
    }

    /// Each rev of each session as one event, none missing, none twice, in its order.
    private func expectEachEventOnce(_ installation: Installation, _ play: Play) throws {
      let wanted = try play.sessions.map { try $0.rev() }.reduce(0, +)
      let events = try installation.recorded(atLeast: wanted)
      var seen: [String: [Int]] = [:]
      for entry in events {
        guard let session = entry.event["data"]?["session"] else { continue }
        seen[session["id"]?.text ?? "", default: []].append(session["rev"]?.whole ?? 0)
      }
      for session in play.sessions {
        let revs = seen[session.id] ?? []
        #expect(Set(revs) == Set(1...(try session.rev())), "lost: \(session.id)")
        #expect(revs.count == Set(revs).count, "doubled: \(session.id)")
        #expect(revs == revs.sorted(), "out of order: \(session.id)")
      }
    }

    @Test func `Each process is replaced under load, and nothing is lost, doubled or disordered`()
      throws
    {
      let installation = try Installation(running: [.simulator])
      try installation.record()
      let crew = try Crew(of: installation)
      try installation.phones.add("jaqueline")
      let play = try Play(installation, sessions: 6)
      try crew.replaceEach(working: play.dither)
      #expect(play.picks > 100)
      try expectAllArrived(installation, sessions: 6)
      try play.decide()
      try expectAllArrived(installation, sessions: 6)
      try expectEachEventOnce(installation, play)
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
      try expectAllArrived(installation, sessions: 3)

      // The phones have seen more than the copy knows.
      try crew.dismissAll()
      _ = try run("restore", copy, database(installation))
      try crew.hireAll()
      for (session, rev) in zip(play.sessions, before) {
        #expect(try session.rev() > rev, "the restored session is ahead of every phone")
      }
      try play.pickAfterRestore()
      try expectAllArrived(installation, sessions: 3)
      try play.decide()
      try expectAllArrived(installation, sessions: 3)
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
