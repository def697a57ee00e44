import Pipeline
import ServiceRuntime

/// The store in a PostgreSQL database, for processes on any number of machines.
///
/// A commit is on the server's disk when ``write(_:)`` returns. How writers are held apart says
/// ``Access``. A write that others came between is done again, at most ``attemptsMax`` times; so
/// its closure must have no effect but on the rows. A connection that was lost before the commit is
/// replaced once, at once; then the store is away until the server can be reached again.
package final class PostgreSQLStore: Store {
  /// Connections of this process at most.
  package static let connectionsMax = 10
  /// How often one transaction is tried. The last time nobody else writes.
  static let attemptsMax = 6
  /// The longest pause before another attempt; those before it are shorter.
  private static let pauseMost_us = 64_000

  private let connections: ConnectionPool<Connection>
  private let depths = OutboxDepths()
  private let onlyReads: Bool
  private let repeats: [Repeatable.Cause: Counter]

  /// Connects and brings the schema up to date.
  ///
  /// - Parameters:
  ///   - address: the user may make tables in its schema.
  ///   - answerMost: how long one answer may take before a connection counts as dead.
  ///   - metrics: where the transactions that were done again are counted.
  /// - Throws: ``StoreError`` when the database cannot be used, is not Lockstep's, or is newer than
  ///   this program.
  package init(
    _ address: PostgreSQLAddress, answerMost: Duration = Connection.answerMost,
    metrics: Metrics = Metrics()
  ) throws {
    onlyReads = false
    repeats = Self.repeats(metrics)
    connections = ConnectionPool(limit: Self.connectionsMax) {
      try Connection(address, answerMost: answerMost)
    }
    try connections.withConnection { try Migrations.apply(to: $0) }
  }

  /// Connects to look, while others work: changes nothing, not even the schema.
  ///
  /// - Throws: ``StoreError`` when the database's schema is not this program's.
  package init(lookingAt address: PostgreSQLAddress) throws {
    onlyReads = true
    repeats = [:]
    connections = ConnectionPool(limit: 1) { try Connection(address, onlyReads: true) }
    try connections.withConnection { try Migrations.check($0) }
  }

  package func read<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    try repeating { _ in
      .read
    } body: {
      try body($0)
    }
  }

  package func write<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    guard !onlyReads else { throw StoreError("cannot be written: it was opened to look at") }
    return try repeating {
      $0 < Self.attemptsMax ? .write : .writeAlone
    } body: {
      try body($0)
    }
  }

  private func repeating<Result>(
    _ access: (_ attempt: Int) -> Access, body: (any StoreTransaction) throws -> Result
  ) throws -> Result {
    var losses = 0
    for attempt in 1...Self.attemptsMax {
      do {
        return try connections.withConnection { connection in
          try connection.transaction(access(attempt)) {
            let rows = PostgreSQLTransaction(connection, depths)
            defer { rows.end() }
            return try body(rows)
          }
        }
      } catch let again as Repeatable {
        if again.cause == .loss {
          connections.forgetIdle()
          losses += 1
        }
        guard losses < 2, attempt < Self.attemptsMax else { throw again.error }
        repeats[again.cause]?.add()
        if again.cause == .clash { pause(after: attempt) }
      }
    }
    preconditionFailure("the last attempt returns or throws")
  }

  private static func repeats(_ metrics: Metrics) -> [Repeatable.Cause: Counter] {
    let counters = Repeatable.Cause.allCases.map { cause in
      metrics.counter(
        "lockstep_store_repeats_total",
        help: "Transactions done again: others came between (clash), or the server went (loss).",
        labels: ["because": cause.rawValue])
    }
    return Dictionary(uniqueKeysWithValues: zip(Repeatable.Cause.allCases, counters))
  }

  /// Random, so that two that met do not meet again.
  private func pause(after attempt: Int) {
    let most = min(1000 << attempt, Self.pauseMost_us)
    Poll.wait([], atMost: .microseconds(Int.random(in: 0...most)))
  }

  /// How PostgreSQL would carry out each statement, whatever its values: what `EXPLAIN` says, line
  /// by line. A line with `Seq Scan` reads a whole table.
  package func queryPlans() throws -> [(statement: String, lines: [String])] {
    try connections.withConnection { connection in
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
    + EndedSQL.texts + FCMSQL.texts
}

/// What can be done in one transaction: the tables' files say how, and those of Shared/Steps what
/// takes the same steps in both stores.
final class PostgreSQLTransaction: StoreTransaction {
  private var open: Connection?
  let depths: OutboxDepths

  init(_ connection: Connection, _ depths: OutboxDepths) {
    (open, self.depths) = (connection, depths)
  }

  /// - Throws: ``StoreError`` when the transaction is over.
  var connection: Connection {
    get throws {
      guard let open else { throw StoreError("a transaction was used after its end") }
      return open
    }
  }

  func end() { open = nil }
}

typealias SQLTransaction = PostgreSQLTransaction
