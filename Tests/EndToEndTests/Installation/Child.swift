import Foundation
import Glibc
import TestSupport

/// One child process, in a process group of its own.
final class Child {
  private let process = Process()

  /// `output` and `errors` are appended to. Of our own environment it gets only what a program needs
  /// to start, so that no setting comes from outside.
  init(
    _ program: URL, _ arguments: [String], environment: [String: String],
    input: Any = FileHandle.nullDevice, output: URL, errors: URL
  ) throws {
    let own = ProcessInfo.processInfo.environment
    let inherited = ["PATH", "HOME", "LANG", "TMPDIR"].compactMap { name in
      own[name].map { (name, $0) }
    }
    process.executableURL = program
    process.arguments = arguments
    process.environment = environment.merging(inherited) { given, _ in given }
    process.standardInput = input
    process.standardOutput = try Self.appending(to: output)
    process.standardError =
      output == errors ? process.standardOutput : try Self.appending(to: errors)
    try process.run()
  }

  private static func appending(to file: URL) throws -> FileHandle {
    let path = file.path(percentEncoded: false)
    if !FileManager.default.fileExists(atPath: path) {
      try Data().write(to: file)
    }
    let handle = try FileHandle(forWritingTo: file)
    try handle.seekToEnd()
    return handle
  }

  var pid: pid_t { process.processIdentifier }
  var isRunning: Bool { process.isRunning }

  func send(_ signal: Int32) { _ = Glibc.kill(pid, signal) }

  /// To it and to all of its children that made no group of their own: what Ctrl-C does.
  func sendToGroup(_ signal: Int32) { _ = Glibc.kill(-pid, signal) }

  /// SIGKILL, and waits until it is gone.
  func kill() {
    guard isRunning else { return }
    send(SIGKILL)
    _ = exitCode(within: .seconds(10))
  }

  /// Nil when it still runs after `limit`.
  func exitCode(within limit: Duration) -> Int32? {
    guard becomesTrue(within: limit, { !process.isRunning }) else {
      return nil
    }
    return process.terminationReason == .exit
      ? process.terminationStatus : 128 + process.terminationStatus
  }
}
