import Foundation

/// What a person types at a shell and sees: the `console` blocks of a Markdown file.
///
/// A line that begins with `$ ` is typed; what follows is seen. In what is seen, `…` stands for any
/// text of one line, and alone in a line for any number of lines; blanks count as one. A command
/// that ends with `# again, up to 60 s` is a look, and is repeated until it shows what is written.
struct Transcript {
  struct Step {
    let command: String
    /// How long it is repeated; nil for one that is typed once.
    let againUpTo: Duration?
    let seen: [String]

    /// Whether `output` is what is written.
    func fits(_ output: String) -> Bool {
      var lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        .map(Transcript.folded)
      while lines.last == "" { lines.removeLast() }
      var wanted = seen.map(Transcript.folded)
      while wanted.last == "" { wanted.removeLast() }
      return Self.fits(lines[...], wanted[...])
    }

    private static func fits(_ lines: ArraySlice<String>, _ wanted: ArraySlice<String>) -> Bool {
      guard let first = wanted.first else { return lines.isEmpty }
      let rest = wanted.dropFirst()
      if first == "…" {
        return (lines.startIndex...lines.endIndex).contains { fits(lines[$0...], rest) }
      }
      guard let line = lines.first, Transcript.fits(line, first) else { return false }
      return fits(lines.dropFirst(), rest)
    }
  }

  let steps: [Step]

  init(markdown: String) throws {
    let again = /\s+# again, up to ([0-9]+) s$/
    var steps: [Step] = []
    var isInside = false
    for line in markdown.split(separator: "\n", omittingEmptySubsequences: false) {
      switch (isInside, line) {
      case (false, "```console"): isInside = true
      case (true, "```"): isInside = false
      case (true, _) where line.hasPrefix("$ "):
        let typed = line.dropFirst(2)
        let limit = typed.firstMatch(of: again).flatMap { Int($0.1) }
        steps.append(
          Step(
            command: String(typed.replacing(again, with: "")),
            againUpTo: limit.map { .seconds($0) }, seen: []))
      case (true, _):
        guard let step = steps.popLast() else { throw Unexpected("nobody typed before \(line)") }
        steps.append(
          Step(
            command: step.command, againUpTo: step.againUpTo, seen: step.seen + [String(line)]))
      default: break
      }
    }
    self.steps = steps
  }

  private static func folded(_ line: some StringProtocol) -> String {
    line.split(separator: " ").joined(separator: " ")
  }

  /// One line against one that is written; both folded.
  private static func fits(_ line: String, _ wanted: String) -> Bool {
    let parts = wanted.replacing(/\ ?…\ ?/, with: "…")
      .split(separator: "…", omittingEmptySubsequences: false)
    guard parts.count > 1 else { return line == wanted }
    guard line.hasPrefix(parts[0]) else { return false }
    var rest = line[line.index(line.startIndex, offsetBy: parts[0].count)...]
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.range(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return rest.hasSuffix(parts[parts.count - 1])
  }
}
