import Foundation
import ServiceRuntime
import Vocabulary

/// The command: finds the subcommand, runs it, and ends with a code of sysexits.
enum Lockstep {
  static func run(_ words: [String], environment: [String: String]) -> ExitCode {
    let code = attempt(words, environment)
    // What cannot be written `print` drops without a word: half a file would look like a whole one.
    guard fflush(nil) != 0, errno != EPIPE, code == .ok else { return code }
    StandardStream.error.write("lockstep: standard output: \(String(cString: strerror(errno)))\n")
    return .unavailable
  }

  private static func attempt(_ words: [String], _ environment: [String: String]) -> ExitCode {
    do {
      guard let name = words.first, !["help", "--help", "-h"].contains(name) else {
        print(Help.overview)
        return .ok
      }
      guard let command = Command(name: name) else {
        let known = Command.all.map(\.name).joined(separator: ", ")
        throw CommandFailure(.usage, "no command \"\(name)\"; there are \(known)")
      }
      if words.contains("--help") || words.contains("-h") {
        print(Help.text(of: command))
        return .ok
      }
      let arguments = try Arguments(Array(words.dropFirst()), for: command)
      try command.run(Invocation(arguments: arguments, environment: environment))
      return .ok
    } catch let failure as CommandFailure {
      StandardStream.error.write("lockstep: \(failure)\n".visibleLines)
      return failure.code
    } catch {
      StandardStream.error.write("lockstep: \(error)\n".visibleLines)
      return .software
    }
  }
}

/// What a command was called with.
struct Invocation: Sendable {
  let arguments: Arguments
  let environment: [String: String]

  var settings: SettingsReader {
    SettingsReader(environment: environment, flags: arguments.settings)
  }
}

/// One subcommand.
struct Command: Sendable {
  let name: String
  let summary: String
  /// The names of the settings it reads, without prefix.
  let settings: [String]
  /// Its own flags that are no settings, with their help; those ending in `=` take a value.
  var options: [(flag: String, help: String)] = []
  /// The words it takes besides, `apply`.
  var words: [String] = []
  /// What it works on, `SESSION`: any words instead.
  var operand: String?
  /// What else there is to know; stands at the end of its help.
  var notes: String?
  let run: @Sendable (Invocation) throws -> Void

  init?(name: String) {
    guard let command = Self.all.first(where: { $0.name == name }) else { return nil }
    self = command
  }

  init(
    _ name: String, _ summary: String, settings: [String] = [],
    options: [(flag: String, help: String)] = [], words: [String] = [],
    operand: String? = nil, notes: String? = nil,
    run: @escaping @Sendable (Invocation) throws -> Void
  ) {
    self.name = name
    self.summary = summary
    self.settings = settings
    self.options = options
    self.words = words
    self.operand = operand
    self.notes = notes
    self.run = run
  }
}
