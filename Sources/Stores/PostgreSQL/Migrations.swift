import Pipeline

/// The schema, in numbered steps. A step that was ever released is never edited: append another.
///
/// A step only adds: tables, indexes, columns that may be null or have a default. So the programs
/// of a rolling deploy share one database, and the way back to the program before stays open. A
/// step that older programs cannot live with says so in `wants`: programs that know fewer steps
/// refuse the database from then on.
package enum Migrations {
  package struct Step: Sendable {
    package let script: String
    /// How many steps a program must know to use the database from here on.
    package let wants: Int

    package init(_ script: String, wants: Int = 1) {
      self.script = script
      self.wants = wants
    }
  }

  /// Step n, from 1, is `all[n - 1]`.
  package static let all: [Step] = [Step(firstTables)]

  /// Brings the database up to date, each step in a transaction. Of several processes that start
  /// at once one works and the others wait.
  ///
  /// - Throws: ``StoreError`` when the database has become one that this program cannot live with,
  ///   or is not Lockstep's.
  package static func apply(_ steps: [Step] = all, to connection: Connection) throws {
    // Mostly there is nothing to do, and then nobody need wait for anybody.
    guard try reached(connection, knowing: steps.count) < steps.count else { return }
    try connection.execute(script: begin)
    do {
      let reached = try reached(connection, knowing: steps.count)
      if reached == 0 { try refuseForeignTables(connection) }
      for number in reached..<max(reached, steps.count) {
        try connection.execute(script: steps[number].script)
        try connection.run(MigrationSQL.note, number + 1, steps[number].wants)
      }
      try connection.execute(script: "COMMIT")
    } catch {
      try rollBack(connection)
      throw error
    }
  }

  /// The number has no meaning but that nobody else is likely to use it.
  private static let begin = """
    BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s';
    SELECT pg_advisory_xact_lock(7237112380564);
    """

  private static func rollBack(_ connection: Connection) throws {
    connection.forgetFailure()
    try connection.execute(script: "ROLLBACK")
  }

  /// - Throws: ``StoreError`` unless the schema is one that this program can look at.
  static func check(_ connection: Connection) throws {
    try refuse(connection, because: try version(of: connection).refusalToLook(knowing: all.count))
  }

  /// The number of the last step; greater than `newest` after a newer program that only added.
  private static func reached(_ connection: Connection, knowing newest: Int) throws -> Int {
    let version = try version(of: connection)
    try refuse(connection, because: version.refusal(knowing: newest))
    return version.reached
  }

  private static func version(of connection: Connection) throws -> SchemaVersion {
    let isThere = try connection.first(MigrationSQL.isThere) { try $0.next() } ?? false
    guard isThere else { return SchemaVersion(reached: 0, wanted: 0) }
    let (reached, wanted) =
      try connection.first(MigrationSQL.version) { row in
        (try row.next() as Int?, try row.next() as Int?)
      } ?? (nil, nil)
    return SchemaVersion(reached: reached ?? 0, wanted: wanted ?? 0)
  }

  private static func refuseForeignTables(_ connection: Connection) throws {
    let found: String? = try connection.first(MigrationSQL.anyTable) { try $0.next() }
    try refuse(connection, because: found.map(SchemaVersion.refusal(foreignTable:)))
  }

  private static func refuse(_ connection: Connection, because reason: String?) throws {
    if let reason { throw StoreError("\(connection.address): \(reason)") }
  }
}

enum MigrationSQL: String, SQLText {
  case isThere = "SELECT to_regclass('schema_steps') IS NOT NULL"
  case version = "SELECT max(step), max(wants) FROM schema_steps"
  case note = "INSERT INTO schema_steps (step, wants) VALUES ($1, $2)"
  case anyTable = """
    SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() LIMIT 1
    """
}
