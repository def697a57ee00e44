/// The schema, in numbered steps. A step that was ever released is never edited: append another.
///
/// A step only adds: tables, indexes, columns that may be null or have a default. So the programs
/// of a rolling deploy share one database, and the way back to the program before stays open. A
/// step that older programs cannot live with says so: it sets `PRAGMA application_id` to its
/// number, and programs that know fewer steps refuse the database from then on.
package enum Migrations {
  /// Step n, from 1, is `all[n - 1]`; each ends by setting `user_version` to its number.
  package static let all: [String] = [
    firstTables, sweepIndexes, webPushTables, outboxOrder, historyTables, tokenAge,
    drivenActivityTables, acceptedAlerts, endedIndexes, fcmTables, channels, fcmBooks,
  ]

  /// Brings the database up to date. Safe when several processes start at once: each step is one
  /// transaction that looks again at the version once it holds the write lock.
  ///
  /// - Throws: ``StoreError`` when the database has become one that this program cannot live with,
  ///   or is not Lockstep's.
  package static func apply(_ steps: [String] = all, to connection: Connection) throws {
    for number in 1...steps.count where try reached(connection, knowing: steps.count) < number {
      try connection.transaction(.write) {
        guard try reached(connection, knowing: steps.count) < number else { return }
        if number == 1 { try refuseForeignTables(connection) }
        try connection.execute(script: steps[number - 1])
        let reached = try reached(connection, knowing: steps.count)
        precondition(reached == number, "step \(number) ends with PRAGMA user_version = \(number)")
      }
    }
  }

  /// - Throws: ``StoreError`` unless the schema is the one that this program works on.
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
    SchemaVersion(
      reached: try connection.first(MigrationSQL.version) { try $0.next() } ?? 0,
      wanted: try connection.first(MigrationSQL.wantedVersion) { try $0.next() } ?? 0)
  }

  private static func refuseForeignTables(_ connection: Connection) throws {
    let found: String? = try connection.first(MigrationSQL.anyTable) { try $0.next() }
    try refuse(connection, because: found.map(SchemaVersion.refusal(foreignTable:)))
  }

  private static func refuse(_ connection: Connection, because reason: String?) throws {
    if let reason { throw connection.failure(reason) }
  }
}

enum MigrationSQL: String, SQLText {
  case version = "PRAGMA user_version"
  /// 0, or the fewest steps that a program must know.
  case wantedVersion = "PRAGMA application_id"
  case anyTable = "SELECT name FROM sqlite_schema LIMIT 1"
}
