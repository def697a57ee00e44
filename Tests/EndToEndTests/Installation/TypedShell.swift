import Foundation
import Testing

/// One shell, as a terminal has it: what is typed into it is run, and variables stay.
final class TypedShell {
  private let child: Child
  private let input = Pipe()
  private let output: URL
  private let errors: URL
  /// How far both were read.
  private var outputRead = 0
  private var errorsRead = 0
  private var commands = 0

  /// Keeps what it says in `directory`.
  init(in directory: URL) throws {
    output = directory.appending(path: "shell-output")
    errors = directory.appending(path: "shell-errors")
    child = try Child(
      URL(filePath: "/bin/bash"), [], environment: [:],
      input: input.fileHandleForReading.fileDescriptor, output: output, errors: errors)
  }

  deinit { child.kill() }

  /// Runs a command to its end.
  ///
  /// - Returns: what it printed, and below it what it said aside.
  func type(_ command: String, within limit: Duration = .seconds(60)) throws -> String {
    commands += 1
    let mark = "── end of \(commands) ──\n"
    // On a line of its own also when the command's last line has no end.
    input.fileHandleForWriting.write(
      Data("\(command)\nprintf '\\n%s' '\(mark)'\n".utf8))
    var printed = ""
    let hasEnded = becomesSeen(within: limit) {
      // It is there from the start; what cannot be read yet is read the next time.
      printed = (try? unread(output, from: outputRead)) ?? ""
      return printed.hasSuffix("\n" + mark)
    }
    try #require(hasEnded, "\(command) does not end: \(printed)")
    let aside = try unread(errors, from: errorsRead)
    outputRead += printed.utf8.count
    errorsRead += aside.utf8.count
    let text = String(printed.dropLast(mark.count + 1))
    return (text.isEmpty || text.hasSuffix("\n") ? text : text + "\n") + aside
  }

  private func unread(_ file: URL, from offset: Int) throws -> String {
    String(decoding: try Data(contentsOf: file).dropFirst(offset), as: UTF8.self)
  }
}
