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
    if let version = try version(of: connection, knowing: steps.count), version >= steps.count {
      return
    }
    try connection.execute(script: begin)
    do {
      let reached = try version(of: connection, knowing: steps.count) ?? 0
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
    let found = try version(of: connection, knowing: all.count)
    guard let found else { throw StoreError("\(connection.address): is not a Lockstep database") }
    guard found < all.count else { return }
    throw StoreError(
      "\(connection.address): has schema \(found), this program wants \(all.count): start one of"
        + " its roles once")
  }

  /// The number of the last step; greater than `newest` after a newer program that only added. Nil:
  /// none yet.
  private static func version(of connection: Connection, knowing newest: Int) throws -> Int? {
    let isThere = try connection.first(MigrationSQL.isThere) { try $0.next() } ?? false
    guard isThere else { return nil }
    let (version, wanted) =
      try connection.first(MigrationSQL.version) { row in
        (try row.next() as Int?, try row.next() as Int?)
      } ?? (nil, nil)
    guard let version, let wanted else { return nil }
    guard version <= newest || wanted <= newest else {
      throw StoreError(
        "\(connection.address): has schema \(version), which wants a program that knows \(wanted);"
          + " this one knows up to \(newest): start the newer program")
    }
    return version
  }

  private static func refuseForeignTables(_ connection: Connection) throws {
    let found: String? = try connection.first(MigrationSQL.anyTable) { try $0.next() }
    if let found {
      throw StoreError(
        "\(connection.address): is not a Lockstep database: it has a table \(found) but no schema"
          + " number")
    }
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
