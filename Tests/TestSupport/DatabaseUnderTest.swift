import Foundation
import Glibc
import Pipeline
import PostgreSQLStore
import Testing

/// A schema of its own in the PostgreSQL that `deploy/test` started, gone with the instance.
///
/// Reads LOCKSTEP_TEST_POSTGRESQL_URL, or takes the URL of a ``PrivateDatabase``; without a server
/// the test fails.
package final class DatabaseUnderTest: Sendable {
  /// `postgresql://…`: what is made with it goes into the schema.
  package let url: String
  package let schema: String
  private let server: PostgreSQLAddress

  package init(url given: String? = nil) throws {
    let whole = try #require(
      given ?? ProcessInfo.processInfo.environment["LOCKSTEP_TEST_POSTGRESQL_URL"],
      "no PostgreSQL: run the tests with deploy/test, or set LOCKSTEP_TEST_POSTGRESQL_URL")
    server = try PostgreSQLAddress(parsing: whole)
    schema = "test_" + UUID().uuidString.lowercased().filter { $0 != "-" }
    url = whole + (whole.contains("?") ? "&" : "?") + "options=-csearch_path%3D\(schema)"
    try Connection(server).execute(script: "CREATE SCHEMA \(schema)")
  }

  package var address: PostgreSQLAddress { get throws { try PostgreSQLAddress(parsing: url) } }

  /// Runs statements in the schema, past the store.
  ///
  /// - Returns: the first column of what the last one gave, as text.
  @discardableResult
  package func execute(_ script: String) throws -> [String] {
    try Connection(address).execute(script: script)
  }

  deinit {
    // A server that the test has ended has nothing left to clean.
    _ = try? Connection(server).execute(script: "DROP SCHEMA \(schema) CASCADE")
  }
}

/// A PostgreSQL server for one test that ends it; ends with the instance.
package final class PrivateDatabase: Sendable {
  package let directory: URL
  private static let script = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "deploy/postgresql-private")

  package init() throws {
    directory = FileManager.default.temporaryDirectory
      .appending(path: "lockstep-postgresql-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try start()
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

  private func run(_ verb: String) throws {
    let process = try Process.run(
      Self.script, arguments: [verb, directory.path(percentEncoded: false)])
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "postgresql-private \(verb) failed")
  }
}
