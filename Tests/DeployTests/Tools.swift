import Foundation
import Testing

/// The repository's files, and the programs that `deploy/install tests` installs.
enum Tools {
  static let repository = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func path(_ file: String) -> String {
    repository.appending(path: file).path(percentEncoded: false)
  }

  static func text(_ file: String) throws -> String {
    try String(contentsOfFile: path(file), encoding: .utf8)
  }

  /// The names in `folder`, sorted.
  static func files(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
  }

  /// Every setting that the example shows, with prefix.
  static func knownSettings() throws -> Set<String> {
    let text = try text("deploy/environment.example")
    return Set(text.matches(of: #/(?m)^#?\s?(LOCKSTEP_[A-Z0-9_]+)=/#).map { String($0.1) })
  }

  struct Outcome {
    let code: Int32
    /// Standard output and error.
    let output: String
  }

  /// Runs a program to its end. A program that is not there fails the test: run `deploy/install
  /// tests`.
  static func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    input: String = ""
  ) throws -> Outcome {
    let folder = try Folder()
    let given = folder.url.appending(path: "in")
    try Data(input.utf8).write(to: given)
    let said = folder.url.appending(path: "out")
    try Data().write(to: said)
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = try FileHandle(forReadingFrom: given)
    let output = try FileHandle(forWritingTo: said)
    process.standardOutput = output
    process.standardError = output
    try process.run()
    process.waitUntilExit()
    return Outcome(
      code: process.terminationStatus, output: try String(contentsOf: said, encoding: .utf8))
  }
}

/// A folder of temporary files, gone with the instance.
final class Folder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appending(path: "lockstep-deploy-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  // What is left of it goes with the machine's temporary files.
  deinit { try? FileManager.default.removeItem(at: url) }

  var path: String { url.path(percentEncoded: false) }
}
