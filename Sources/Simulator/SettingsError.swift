/// Everything wrong with what was given, at once; each line names the place, what was given and
/// what was wanted.
package struct SettingsError: Error, Hashable, CustomStringConvertible {
  package let problems: [String]

  package init(_ problems: [String]) { self.problems = problems }

  package var description: String { problems.joined(separator: "\n") }
}
