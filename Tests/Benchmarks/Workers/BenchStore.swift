import Foundation
import Pipeline
import PostgreSQLStore
import SQLiteStore

/// The store that a worker is measured on: SQLite in `directory`, or the PostgreSQL that
/// LOCKSTEP_BENCH_DATABASE_URL names.
func openBenchStore(in directory: String) throws -> any Store {
  guard let url = ProcessInfo.processInfo.environment["LOCKSTEP_BENCH_DATABASE_URL"] else {
    return try SQLiteStore(path: directory + "/bench.sqlite")
  }
  return try PostgreSQLStore(PostgreSQLAddress(parsing: url))
}
