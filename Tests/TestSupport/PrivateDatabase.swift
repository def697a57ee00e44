import Foundation
import Glibc
import Testing

/// A PostgreSQL server for one test that ends it; ends with the instance.
package final class PrivateDatabase: Sendable {
  package let directory: URL
  private static let script = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "deploy/postgresql-private")

  /// Starts a server; `prepare` puts files into the directory before.
  package init(prepare: (URL) throws -> Void = { _ in }) throws {
    directory = try Self.makeDirectory()
    try prepare(directory)
    try start()
  }

  /// Starts a standby, without which `primary` commits nothing from then on.
  package init(following primary: PrivateDatabase) throws {
    directory = try Self.makeDirectory()
    try run("follow", primary.directory.path(percentEncoded: false))
  }

  private static func makeDirectory() throws -> URL {
    let directory = FileManager.default.temporaryDirectory
      .appending(path: "lockstep-postgresql-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    return directory
  }

  deinit {
    // Nothing can be done about a server that does not end, and the test has its verdict.
    try? kill()
    try? FileManager.default.removeItem(at: directory)
  }

  /// Starts it, again on the same port and with the same data.
  package func start() throws { try run("start") }

  /// In good order: whoever is connected is told.
  package func stop() throws { try run("stop") }

  /// As a power cut would.
  package func kill() throws { try run("kill") }

  /// Makes a standby a primary, which commits alone.
  package func promote() throws { try run("promote") }

  /// Stops the process that takes connections and those that serve them, or has them go on.
  package func signalAll(_ number: Int32) throws {
    let pid = try #require(
      pid_t(
        try String(contentsOf: directory.appending(path: "data/postmaster.pid"), encoding: .utf8)
          .split(separator: "\n")[0]))
    let children = try String(
      contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
    for process in [pid] + children.split(separator: " ").compactMap({ pid_t($0) }) {
      try #require(Glibc.kill(process, number) == 0)
    }
  }

  package var url: String {
    get throws {
      try String(contentsOf: directory.appending(path: "url"), encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }

  /// Finds whichever of the two can be written.
  package func url(orElse standby: PrivateDatabase) throws -> String {
    let port = try String(contentsOf: standby.directory.appending(path: "port"), encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let database = "/lockstep"
    let hosts = try url.dropLast(database.count)
    return "\(hosts),127.0.0.1:\(port)\(database)?target_session_attrs=read-write"
  }

  private func run(_ verb: String, _ more: String...) throws {
    let process = try Process.run(
      Self.script, arguments: [verb, directory.path(percentEncoded: false)] + more)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "postgresql-private \(verb) failed")
  }
}
