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
