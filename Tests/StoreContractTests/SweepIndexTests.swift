import Foundation
import Pipeline
import Sessions
import Testing
import Vocabulary

@testable import SQLiteStore

/// Step 2 of the schema, and that the sweep never reads a whole table.
@Suite struct SweepIndexTests {
  @Test func `sessions from before the step are found in the kitchen`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    let since = noon - .seconds(5)
    let old = try session(SessionID("old"), state: .generating, updatedAt: since, job: "job_1")
    let over = try session(SessionID("over"), state: .decided, updatedAt: since)
    let waiting = try session(SessionID("waiting"), updatedAt: since)
    do {
      let connection = try Connection(path: path, access: .write)
      try Migrations.apply(Array(Migrations.all.prefix(1)), to: connection)
      for session in [old, over, waiting] {
        try connection.run(
          FirstSchema.save, session.id, JSONText(data: JSON.encoded(session)), session.state,
          session.rev, !session.state.isFinal, session.expiresAt)
      }
    }
    try SQLiteStore(path: path).read { rows in
      let found = try rows.sessionsInKitchen(unchangedSince: noon, limit: 9)
      #expect(found == [old])
      #expect(try rows.earliestDue().inKitchenSince == since)
    }
  }

  private enum FirstSchema: String, SQLText {
    case save = """
      INSERT INTO sessions (id, json, state, rev, is_live, expires_at_ms) VALUES (?, ?, ?, ?, ?, ?)
      """
  }

  @Test(arguments: [
    (SessionSQL.expired, "SEARCH sessions USING INDEX sessions_by_expiry (expires_at_ms<?)"),
    (.inKitchen, "SEARCH sessions USING INDEX sessions_in_kitchen (in_kitchen_since_ms<?)"),
    (.earliestExpiry, "SEARCH sessions USING INDEX sessions_by_expiry"),
    (
      .longestInKitchen,
      "SEARCH sessions USING COVERING INDEX sessions_in_kitchen (in_kitchen_since_ms>?)"
    ),
    (.replace, "SEARCH sessions USING INDEX sqlite_autoindex_sessions_1 (id=?)"),
  ])
  func `the sweep walks an index from its due end, and sorts nothing`(
    statement: SessionSQL, plan: String
  ) throws {
    let folder = try TemporaryFolder()
    let plans = try SQLiteStore(path: folder.path + "/lockstep.db").queryPlans()
    let lines = plans.first { $0.statement == statement.rawValue }?.lines
    #expect(lines == [plan])
  }
}
