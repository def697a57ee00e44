import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
  /// `deploy/TRANSCRIPT.md` is true: what it says is typed is typed, and seen is what it says.
  @Suite struct TranscriptTests {
    @Test func `An outage is found, drained and mended exactly as the transcript says`() throws {
      let directory = FileManager.default.temporaryDirectory
        .appending(path: "lockstep-transcript-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      // Whatever the demonstration started has its pid there.
      let leash = try Leash(directory)
      defer { leash.letGo() }
      let path = directory.path(percentEncoded: false)
      let text = try String(
        contentsOf: Programs.repository.appending(path: "deploy/TRANSCRIPT.md"), encoding: .utf8)
      let steps = try Transcript(markdown: text.replacing("/tmp/demo", with: path)).steps
      #expect(steps.count > 20)

      let log = directory.appending(path: "demo-output")
      let demo = try Child(
        Programs.repository.appending(path: "deploy/demo"), ["--pace", "0"],
        environment: [
          "LOCKSTEP_DEMO_DIR": path,
          "LOCKSTEP_BIN": Programs.directory.path(percentEncoded: false),
        ], output: log, errors: log)
      defer { demo.kill() }
      let hasPlayed = becomesSeen(within: .seconds(150)) {
        !demo.isRunning
          || ((try? String(contentsOf: log, encoding: .utf8))?.contains("The page is at") ?? false)
      }
      let printed = try String(contentsOf: log, encoding: .utf8)
      try #require(hasPlayed && demo.isRunning, "\(printed)")
      #expect(printed.contains(#/the operators' page is at http://127.0.0.1:[0-9]+/ops\n/#))

      let shell = try TypedShell(in: directory)
      for step in steps { try play(step, in: shell) }
      demo.send(SIGTERM)
      #expect(demo.exitCode(within: .seconds(60)) == 143)
    }

    private func play(_ step: Transcript.Step, in shell: TypedShell) throws {
      var output = try shell.type(step.command)
      if let limit = step.againUpTo, !step.fits(output) {
        var trouble: (any Error)?
        _ = becomesSeen(within: limit, every: .milliseconds(300)) {
          do {
            output = try shell.type(step.command)
            return step.fits(output)
          } catch {
            trouble = error
            return true
          }
        }
        if let trouble { throw trouble }
      }
      guard step.fits(output) else {
        throw Unexpected(
          "$ \(step.command)\nsays\n\(output)\nand not\n\(step.seen.joined(separator: "\n"))")
      }
    }
  }
}

@Suite struct TranscriptReadingTests {
  private func fits(_ written: String, _ output: String) throws -> Bool {
    let transcript = try Transcript(markdown: "```console\n$ x\n\(written)\n```\n")
    return try #require(transcript.steps.first).fits(output)
  }

  @Test func `what is written must be seen, with room where it says so`() throws {
    #expect(try fits("a  b", "a b\n"))
    #expect(try fits("a … c", "a long b c\n"))
    #expect(try fits("{… \"ok\":true, …}", "{\"a\":1,\"ok\":true,\"b\":2}\n"))
    #expect(try fits("first\n…\nlast", "first\nlast\n"))
    #expect(try fits("…\nlast\n…", "first\nlast\nmore\n"))
    #expect(try !fits("a", "a\nb\n"))
    #expect(try !fits("a … c", "a long b\n"))
    #expect(try !fits("apns … 0", "apns 1 2\n"))
    #expect(try !fits("…\nlast", "first\n"))
  }

  @Test func `a command, its limit and what it shows are read from a block`() throws {
    let steps = try Transcript(
      markdown: "text\n```console\n$ look   # again, up to 60 s\nseen\n$ once\n```\n$ not this\n"
    ).steps
    #expect(steps.map(\.command) == ["look", "once"])
    #expect(steps.map(\.againUpTo) == [.seconds(60), nil])
    #expect(steps.map(\.seen) == [["seen"], []])
  }
}
