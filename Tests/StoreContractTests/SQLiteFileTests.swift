import Foundation
import Pipeline
import SQLiteStore
import Testing
import Vocabulary

@Suite struct SQLiteFileTests {
  @Test func `every statement finds its rows by an index`() throws {
    let folder = try TemporaryFolder()
    let plans = try SQLiteStore(path: folder.path + "/lockstep.db").queryPlans()
    #expect(plans.count > 50)
    for plan in plans {
      let scans = plan.lines.filter { $0.hasPrefix("SCAN") && !isMeant($0) }
      #expect(scans.isEmpty, "\(plan.statement)")
    }
  }

  /// Few values share all rows between them: an index that is only followed by one of these is a
  /// walk through the table by another name.
  @Test func `no statement searches the tokens by their kind alone`() throws {
    let folder = try TemporaryFolder()
    let plans = try SQLiteStore(path: folder.path + "/lockstep.db").queryPlans()
    for plan in plans {
      let walks = plan.lines.filter { $0.contains("tokens_by_age (kind=?)") }
      #expect(walks.isEmpty, "\(plan.statement)")
    }
  }

  /// The outbox is walked from its oldest event, up to the limit; a list of values is no table, and
  /// neither is the one row that answers whether there is any.
  private func isMeant(_ line: String) -> Bool {
    ["SCAN outbox", "SCAN asked"].contains(line) || line.contains(" CONSTANT ROW")
      || line.hasPrefix("SCAN json_each VIRTUAL TABLE")
  }

  @Test func `opening again changes nothing`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    try SQLiteStore(path: path).write { try $0.save(session()) }
    #expect(try SQLiteStore(path: path).read { try $0.session(dinner) } != nil)
  }

  @Test func `a step that fails leaves the schema of the step before`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    let next = Migrations.all.count + 1
    let broken = "CREATE TABLE fresh (a); INSERT INTO nowhere VALUES (1);"
    let whole = """
      CREATE TABLE fresh (a); PRAGMA application_id = \(next); PRAGMA user_version = \(next);
      """
    let connection = try Connection(path: path, access: .write)
    #expect(throws: StoreError.self) {
      try Migrations.apply(Migrations.all + [broken], to: connection)
    }
    try SQLiteStore(path: path).write { try $0.save(session()) }
    try Migrations.apply(Migrations.all + [whole], to: connection)
    #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
  }

  @Test func `several handles may open a new file at once`() throws {
    let folder = try TemporaryFolder()
    for round in 0..<10 {
      let path = folder.path + "/\(round).db"
      let opened = atOnce(4) { number in
        try SQLiteStore(path: path).write { try $0.append(event("e\(number)")) }
      }
      for result in opened { try result.get() }
      #expect(try SQLiteStore(path: path).read { try $0.outboxDepth().events } == 4)
    }
  }

  @Test func `a database of another program is refused and left alone`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/other.db"
    try Connection(path: path, access: .write).execute(script: "CREATE TABLE theirs (a);")
    let reason = "\(path): is not a Lockstep database: it has a table theirs but no schema number"
    #expect(throws: StoreError(reason)) { try SQLiteStore(path: path) }
  }

  @Test(arguments: [
    ("relative.db", "the database's path is \"relative.db\"; want an absolute one"),
    ("/nowhere/at/all/lockstep.db", "its folder must exist and be writable"),
    ("/proc/lockstep.db", "its folder must exist and be writable"),
    ("/etc/passwd", "is not a SQLite database"),
  ])
  func `a file that cannot be it is refused with the reason`(path: String, reason: String) throws {
    let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
  }

  @Test func `500 transactions each of two handles at once all succeed`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    let stores = try [SQLiteStore(path: path), SQLiteStore(path: path)]
    let written = atOnce(stores.count) { place in
      for number in 0..<500 {
        try stores[place].write { rows in
          let depth = try rows.outboxDepth().events
          try rows.append(event("\(place)-\(number)"))
          guard try rows.outboxDepth().events == depth + 1 else { throw StoreError("not alone") }
        }
      }
    }
    for result in written { try result.get() }
    #expect(try stores[0].read { try $0.outboxDepth().events } == 1000)
  }

  @Test func `a write that waits too long for another says so, and a later one succeeds`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    let holder = try SQLiteStore(path: path)
    let waiting = try SQLiteStore(path: path, busyTimeout_ms: 20)
    try holder.write { _ in
      let error = #expect(throws: StoreError.self) {
        try waiting.write { try $0.append(event("e1")) }
      }
      #expect(error?.reason.contains("stayed locked by another writer") == true)
      try #expect(waiting.read { try $0.outboxDepth().events } == 0)
    }
    try waiting.write { try $0.append(event("e1")) }
  }

  @Test func `more readers than connections wait for their turn`() throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.path + "/lockstep.db")
    try store.write { try $0.save(session()) }
    let found = atOnce(SQLiteStore.readersMax * 3) { _ in
      try (0..<20).allSatisfy { _ in try store.read { try $0.session(dinner) } != nil }
    }
    #expect(try found.allSatisfy { try $0.get() })
  }
}
