import Pipeline
import Testing
import Vocabulary

@testable import SQLiteStore

/// Programs of two versions on one database, as in a rolling deploy.
@Suite struct RollingSchemaTests {
  private let newest = Migrations.all.count

  @Test func `a program works on, and starts, on the schema of the next one, which only adds`()
    throws
  {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    let running = try SQLiteStore(path: path)
    try running.write { try $0.save(session()) }
    let next = """
      CREATE TABLE fresh (a);
      ALTER TABLE sessions ADD COLUMN fresh INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE outbox ADD COLUMN fresh TEXT;
      PRAGMA user_version = \(newest + 1);
      """
    try Migrations.apply(Migrations.all + [next], to: Connection(path: path, access: .write))
    let started = try SQLiteStore(path: path)
    for store in [running, started] {
      try store.write { rows in
        try rows.save(session())
        try rows.append(event("e\(store === running)"))
      }
    }
    #expect(try started.read { try $0.outboxDepth().events } == 2)
    #expect(try SQLiteStore(lookingAt: path).read { try $0.session(dinner) } != nil)
  }

  @Test func `a database that wants a newer program is refused`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    let next = newest + 1
    let step = "PRAGMA application_id = \(next); PRAGMA user_version = \(next);"
    try Migrations.apply(Migrations.all + [step], to: Connection(path: path, access: .write))
    let reason =
      "\(path): has schema \(next), which wants a program that knows \(next); this one knows up to"
      + " \(newest): start the newer program"
    #expect(throws: StoreError(reason)) { try SQLiteStore(path: path) }
    #expect(throws: StoreError(reason)) { try SQLiteStore(lookingAt: path) }
  }

  // MARK: The rule

  private struct Column: Hashable {
    let table: String
    let name: String
    let type: String
    let isRequired: Bool
    let hasDefault: Bool
  }

  private enum Look: String, SQLText {
    case columns = """
      SELECT t.name, c.name, c.type, c."notnull", c.dflt_value IS NOT NULL
      FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'
      """
    case uniqueIndexes = """
      SELECT t.name, i.name FROM sqlite_schema t JOIN pragma_index_list(t.name) i
      WHERE t.type = 'table' AND i."unique" = 1
      """
    case triggers = "SELECT tbl_name, name FROM sqlite_schema WHERE type = 'trigger'"
    case wantedVersion = "PRAGMA application_id"
  }

  private func columns(_ connection: Connection) throws -> Set<Column> {
    try Set(
      connection.rows(Look.columns) { row in
        Column(
          table: try row.next(), name: try row.next(), type: try row.next(),
          isRequired: try row.next(), hasDefault: try row.next())
      })
  }

  /// What can refuse a row that the table took before.
  private func refusals(_ connection: Connection) throws -> [(table: String, name: String)] {
    try [Look.uniqueIndexes, .triggers].flatMap { look in
      try connection.rows(look) { (table: try $0.next() as String, name: try $0.next() as String) }
    }
  }

  @Test func `each step only adds, or says which program it wants`() throws {
    let folder = try TemporaryFolder()
    let connection = try Connection(path: folder.path + "/lockstep.db", access: .write)
    var before: Set<Column> = []
    var refusedBefore: Set<String> = []
    for number in 1...newest {
      try Migrations.apply(Array(Migrations.all.prefix(number)), to: connection)
      let after = try columns(connection)
      let refusals = try refusals(connection)
      let wanted: Int = try connection.first(Look.wantedVersion) { try $0.next() } ?? 0
      if wanted != number {
        let old = Set(before.map(\.table))
        #expect(before.isSubset(of: after), "step \(number): \(before.subtracting(after))")
        for column in after.subtracting(before) where old.contains(column.table) {
          #expect(!column.isRequired || column.hasDefault, "step \(number): \(column)")
        }
        for new in refusals where old.contains(new.table) {
          #expect(refusedBefore.contains(new.name), "step \(number): \(new)")
        }
      }
      before = after
      refusedBefore = Set(refusals.map(\.name))
    }
    #expect(before.count > 50)
  }
}
