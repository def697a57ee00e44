import Foundation
import Testing

/// The repository's own text, read once.
enum SourceTree {
  struct File: Sendable {
    /// From the repository's root, `Sources/Pushes/Remedy.swift`.
    let path: String
    let lines: [String]

    /// What the compiler sees of each line: without comments and the text of string literals.
    let code: [String]

    var name: String { String(path.split(separator: "/").last ?? "") }

    /// `Pushes` for a source, `TestSupport` for a test; each store's folder is its own module.
    var module: String {
      let parts = path.split(separator: "/").map(String.init)
      guard parts.count > 2 else { return "" }
      return parts[1] == "Stores" ? parts[2] + "Store" : parts[1]
    }
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static let sources = swiftFiles(in: "Sources")
  static let tests = swiftFiles(in: "Tests")
  /// Without the rules themselves, which must spell what they forbid.
  static let testsButTidy = tests.filter { $0.module != "TidyTests" }
  static let manifest = file("Package.swift")

  static func text(_ path: String) -> String? {
    // A file that is not there has no text; the rules that want it say so.
    try? String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appending(path: path).path(percentEncoded: false))
  }

  private static func swiftFiles(in folder: String) -> [File] {
    let base = root.appending(path: folder).path(percentEncoded: false)
    guard let names = FileManager.default.enumerator(atPath: base) else { return [] }
    return names.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
      .map { file("\(folder)/\($0)") }
  }

  private static func file(_ path: String) -> File {
    let lines = (text(path) ?? "").split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
    return File(path: path, lines: lines, code: lines.map(code))
  }

  private static func code(_ line: String) -> String {
    var code = ""
    var isText = false
    var isEscaped = false
    var before: Character = " "
    for character in line {
      if isText {
        if character == "\"", !isEscaped { isText = false }
        isEscaped = character == "\\" && !isEscaped
      } else if character == "/", before == "/" {
        code.removeLast()
        break
      } else {
        isText = character == "\""
        code.append(character)
      }
      before = character
    }
    return code
  }
}

/// What a rule found, and what to do instead.
struct Finding: CustomStringConvertible {
  let description: String

  init(_ path: String, line: Int? = nil, _ advice: String) {
    description = path + (line.map { ":\($0)" } ?? "") + ": " + advice
  }
}

/// One issue that lists all findings.
func expectNone(_ findings: [Finding], _ location: SourceLocation = #_sourceLocation) {
  guard !findings.isEmpty else { return }
  let all = findings.map(\.description).joined(separator: "\n")
  Issue.record("\(findings.count) findings\n\(all)", sourceLocation: location)
}

extension [SourceTree.File] {
  /// A finding for each line whose code matches.
  func findings<Output>(_ pattern: Regex<Output>, _ advice: String) -> [Finding] {
    flatMap { file in
      file.code.enumerated().compactMap { place, line in
        line.firstMatch(of: pattern) == nil
          ? nil : Finding(file.path, line: place + 1, advice)
      }
    }
  }

  /// The same for whole lines, comments and texts included.
  func findingsInText<Output>(_ pattern: Regex<Output>, _ advice: String) -> [Finding] {
    flatMap { file in
      file.lines.enumerated().compactMap { place, line in
        line.firstMatch(of: pattern) == nil
          ? nil : Finding(file.path, line: place + 1, advice)
      }
    }
  }
}
