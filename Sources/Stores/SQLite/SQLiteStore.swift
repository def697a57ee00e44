import Pipeline

/// The store in one SQLite file, for one machine: several processes may use the file at once.
///
/// A commit is on the disk when ``write(_:)`` returns. Readers see the last commit and wait for
/// nobody; writers take turns.
package final class SQLiteStore: Store {
  /// How many reads run at once in this process.
  package static let readersMax = 8

  /// Nil when it only looks.
  private let writers: ConnectionPool<Connection>?
  private let readers: ConnectionPool<Connection>

  /// Opens the database and brings its schema up to date; makes the file when it is not there.
  ///
  /// - Parameters:
  ///   - path: absolute; its folder must be there.
  ///   - busyTimeout_ms: how long a write waits for another process that writes.
  /// - Throws: ``StoreError`` when the file cannot be used, is not Lockstep's, or is newer than
  ///   this program.
  package init(path: String, busyTimeout_ms: Int = Connection.busyTimeout_ms) throws {
    let writers = ConnectionPool(limit: 1) {
      try Connection(path: path, access: .write, busyTimeout_ms: busyTimeout_ms)
    }
    self.writers = writers
    readers = ConnectionPool(limit: Self.readersMax) {
      try Connection(path: path, access: .read, busyTimeout_ms: busyTimeout_ms)
    }
    try writers.withConnection { try Migrations.apply(to: $0) }
  }

  /// Opens a database that is there to look at it, while others work on it: changes nothing, not
  /// even its schema.
  ///
  /// - Throws: ``StoreError`` when there is no such file, or its schema is not this program's.
  package init(lookingAt path: String) throws {
    writers = nil
    readers = ConnectionPool(limit: 1) { try Connection(path: path, access: .look) }
    try readers.withConnection { try Migrations.check($0) }
  }

  package func read<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    try readers.withConnection { try $0.storeTransaction(.read, body) }
  }

  package func write<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    guard let writers else { throw StoreError("cannot be written: it was opened to look at") }
    return try writers.withConnection { try $0.storeTransaction(.write, body) }
  }

  /// How SQLite would carry out each statement: what `EXPLAIN QUERY PLAN` says, line by line. A
  /// line that begins with `SCAN` reads a whole table.
  package func queryPlans() throws -> [(statement: String, lines: [String])] {
    try readers.withConnection { connection in
      try Self.statements.map { ($0, try connection.plan(of: $0)) }
    }
  }

  private static let statements: [String] =
    ProfileSQL.texts + SessionSQL.texts + TokenSQL.texts
    + ActivitySQL.texts + StartSQL.texts + DeliverySQL.texts
    + NotificationSQL.texts + IdempotencySQL.texts + OutboxSQL.texts
    + SubscriptionSQL.texts + HistorySQL.texts
    + TokenListingSQL.texts + TokenAgeSQL.texts
    + DrivenActivitySQL.texts + StandingSQL.texts
    + EndedSQL.texts
}

extension Connection {
  fileprivate func storeTransaction<Result>(
    _ access: Access, _ body: (any StoreTransaction) throws -> Result
  ) throws -> Result {
    try transaction(access) {
      let rows = SQLiteTransaction(self)
      defer { rows.end() }
      return try body(rows)
    }
  }
}

/// What can be done in one transaction: the tables' files say how, and those of Shared/Steps what
/// takes the same steps in both stores.
final class SQLiteTransaction: StoreTransaction {
  private var open: Connection?

  init(_ connection: Connection) { open = connection }

  /// - Throws: ``StoreError`` when the transaction is over.
  var connection: Connection {
    get throws {
      guard let open else { throw StoreError("a transaction was used after its end") }
      return open
    }
  }

  func end() { open = nil }
}

typealias SQLTransaction = SQLiteTransaction
