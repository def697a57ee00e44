import Foundation
import Testing

/// The programs that were built together with these tests, and the files of the repository.
enum Programs {
  static let repository = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  /// Where the build put everything: beside the tests themselves.
  static let directory = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  static var lockstep: URL { directory.appending(path: "lockstep") }
  static var demo: URL { directory.appending(path: "lockstep-demo") }
  static var queuesFile: URL { repository.appending(path: "queues.yaml") }
  /// Debian's, which sees Debian's pika; another one of that name may come first in the path.
  static let python = URL(filePath: "/usr/bin/python3")

  struct Outcome {
    /// The exit code, or 128 and the signal's number as a shell says it.
    let code: Int32
    let output: String
    let errors: String
  }

  /// Runs a program to its end; `input` is what it reads from standard input.
  ///
  /// - Returns: its exit code and what it said.
  /// - Throws: when it cannot be started or does not end within `limit`.
  static func run(
    _ program: URL, _ arguments: [String], environment: [String: String] = [:], input: String = "",
    within limit: Duration = .seconds(60)
  ) throws -> Outcome {
    let directory = FileManager.default.temporaryDirectory
      .appending(path: "lockstep-run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    // Whatever is left of it goes with the machine's temporary files.
    defer { try? FileManager.default.removeItem(at: directory) }
    let files = ["in", "out", "err"].map { directory.appending(path: $0) }
    try Data(input.utf8).write(to: files[0])
    let reading = try FileHandle(forReadingFrom: files[0])
    let child = try Child(
      program, arguments, environment: environment, input: reading.fileDescriptor,
      output: files[1], errors: files[2])
    guard let code = child.exitCode(within: limit) else {
      child.kill()
      throw Unexpected("\(program.lastPathComponent) \(arguments) did not end within \(limit)")
    }
    return Outcome(
      code: code, output: try String(contentsOf: files[1], encoding: .utf8),
      errors: try String(contentsOf: files[2], encoding: .utf8))
  }

  static func lockstep(_ arguments: String..., environment: [String: String] = [:]) throws
    -> Outcome
  {
    try run(lockstep, arguments, environment: environment)
  }
}

/// Something happened that a test does not go on after.
struct Unexpected: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
