/// How the command ends, by the numbers of sysexits(3).
package enum ExitCode: Int32, Sendable {
  case ok = 0
  /// What was looked at is not as it should be.
  case differs = 2
  /// The command was asked for in a wrong way.
  case usage = 64
  /// What was asked for is not there.
  case noInput = 66
  /// Something that is needed cannot be reached.
  case unavailable = 69
  /// An error of ours.
  case software = 70
  /// A setting or a file of settings is wrong.
  case configuration = 78
}

/// Ends the command with a text for people and a code for programs.
package struct CommandFailure: Error, CustomStringConvertible {
  package let code: ExitCode
  package let description: String

  package init(_ code: ExitCode, _ description: String) {
    self.code = code
    self.description = description
  }
}
