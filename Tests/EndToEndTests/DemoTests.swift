import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
  @Suite struct DemoTests {
    /// Holds whatever the demonstration makes, so that what it leaves behind can be seen.
    private let directory: URL

    init() throws {
      directory = FileManager.default.temporaryDirectory
        .appending(path: "lockstep-demo-test-\(UUID().uuidString)")
      try FileManager.default.createDirectory(
        at: directory.appending(path: "tmp"), withIntermediateDirectories: true)
    }

    private static let good =
      "ok: 3 of 3 cards on 2 phones and 1 Android phone equal the truth, 1 start by push"

    private var output: URL { directory.appending(path: "output") }

    private func play(_ arguments: [String], input: Pipe? = nil) throws -> Child {
      try Child(
        Programs.repository.appending(path: "deploy/demo"), arguments,
        environment: [
          "TMPDIR": directory.appending(path: "tmp").path(percentEncoded: false),
          "LOCKSTEP_BIN": Programs.directory.path(percentEncoded: false),
        ], input: input?.fileHandleForReading.fileDescriptor, output: output, errors: output)
    }

    private func printed() throws -> String { try String(contentsOf: output, encoding: .utf8) }

    private func isStopping() -> Bool {
      let folder = directory.appending(path: "tmp").path(percentEncoded: false)
      let names = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []
      return names.contains { $0.hasSuffix("/stopping") }
    }

    /// Processes that got our directory for their temporary files: everything it has started.
    private func leftProcesses() -> [String] {
      let mark = directory.lastPathComponent
      // Processes come and go, and those of others cannot be read.
      let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
      return all.filter { pid_t($0) != nil }.compactMap { pid in
        guard let environment = FileManager.default.contents(atPath: "/proc/\(pid)/environ"),
          String(decoding: environment, as: UTF8.self).contains(mark),
          let command = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline")
        else { return nil }
        return "\(pid) \(String(decoding: command.map { $0 == 0 ? 32 : $0 }, as: UTF8.self))"
      }
    }

    private func expectNothingLeft() throws {
      // Zombies are their parent's business; what is killed takes a moment to be gone.
      _ = becomesSeen(within: .seconds(10), every: .milliseconds(50)) { leftProcesses().isEmpty }
      #expect(leftProcesses() == [])
      let files = try FileManager.default.contentsOfDirectory(
        atPath: directory.appending(path: "tmp").path(percentEncoded: false))
      #expect(files == [])
      for line in leftProcesses() {
        if let pid = line.split(separator: " ").first.flatMap({ pid_t($0) }) { kill(pid, SIGKILL) }
      }
      try FileManager.default.removeItem(at: directory)
    }

    @Test func `The demonstration ends with all phones equal to the truth, and leaves nothing`()
      throws
    {
      let child = try play(["--once"])
      let code = child.exitCode(within: .seconds(150))
      if code == nil { child.sendToGroup(SIGTERM) }
      let text = try printed()
      #expect(code == 0, "\(text)")
      let last = text.split(separator: "\n").last ?? ""
      #expect(last.hasPrefix(Self.good))
      #expect(last.hasSuffix("invitation on 3 of 3 channels, 1 sound, grey: decided"))
      #expect(text.contains("from mutation to push: median "))
      #expect(text.contains("● Jaqueline confirms, the kitchen serves"))
      #expect(text.contains("  on Android │ with 🐢 Dennis"))
      #expect(text.contains(" × FCM end 200"))
      try expectNothingLeft()
    }

    @Test func `With --ttl the session dies and the invitation turns grey on every channel`() throws
    {
      let child = try play(["--once", "--ttl"])
      let code = child.exitCode(within: .seconds(150))
      if code == nil { child.sendToGroup(SIGTERM) }
      let text = try printed()
      #expect(code == 0, "\(text)")
      let last = text.split(separator: "\n").last ?? ""
      #expect(last.hasPrefix(Self.good))
      #expect(last.hasSuffix("invitation on 3 of 3 channels, 1 sound, grey: ttl"))
      try expectNothingLeft()
    }

    struct Interruption: CustomTestStringConvertible {
      let signal: Int32
      let toGroup: Bool
      /// What it has printed when the signal comes.
      let mark: String
      let code: Int32
      /// Sent once more while it cleans up.
      var isImpatient = false
      var testDescription: String {
        "\(signal) \(toGroup ? "to all" : "to the script") at \(mark)"
          + (isImpatient ? ", twice" : "")
      }
    }

    @Test(arguments: [
      Interruption(signal: SIGINT, toGroup: true, mark: "● Dennis is ready", code: 130),
      Interruption(signal: SIGTERM, toGroup: true, mark: "● Dennis answers", code: 143),
      Interruption(signal: SIGTERM, toGroup: false, mark: "● Jaqueline joins", code: 143),
      Interruption(signal: SIGINT, toGroup: true, mark: "starting RabbitMQ", code: 130),
      Interruption(
        signal: SIGINT, toGroup: true, mark: "● Dennis is ready", code: 130, isImpatient: true),
      Interruption(signal: SIGHUP, toGroup: true, mark: "● Dennis answers", code: 129),
    ])
    func `Interrupted in the middle it cleans up everything`(interruption: Interruption) throws {
      let input = Pipe()
      let child = try play(["--pace", "1"], input: input)
      let isReached = becomesSeen(within: .seconds(120)) {
        !child.isRunning || ((try? printed())?.contains(interruption.mark) ?? false)
      }
      #expect(isReached && child.isRunning)
      if interruption.toGroup {
        child.sendToGroup(interruption.signal)
      } else {
        child.send(interruption.signal)
      }
      if interruption.isImpatient {
        #expect(becomesSeen(within: .seconds(20)) { isStopping() })
        child.sendToGroup(interruption.signal)
      }
      let code = child.exitCode(within: .seconds(60))
      if code == nil { child.sendToGroup(SIGKILL) }
      let text = try printed()
      #expect(code == interruption.code, "\(text)")
      try expectNothingLeft()
    }
  }
}
