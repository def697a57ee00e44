import CSQLite
import Glibc
import Pipeline

/// One SQLite connection with the statements prepared on it.
///
/// Unchecked: SQLite's own locking is off and the statement cache has none, so one thread at a time
/// uses it; ``ConnectionPool`` lends it to one borrower only.
package final class Connection: @unchecked Sendable {
  /// `look`: the file must be there and is opened for reading only.
  package enum Access { case write, read, look }

  /// How long a statement waits for another process or thread to let go of its lock.
  package static let busyTimeout_ms = 10_000
  /// How many times a first open gives way to another process that creates the same file.
  private static let creationAttemptsMax = 100
  /// After how many pages the log is copied into the database (4 KiB each, so 4 MiB).
  private static let checkpoint_pages = 1000

  package let path: String
  private let handle: OpaquePointer
  private var statements: [String: Statement] = [:]
  /// The first failure of the open transaction: after it nothing more is done in it.
  private var failed: StoreError?
  private var isInTransaction = false
  /// False when a rollback failed: what this connection holds is not known any more.
  private(set) var isUsable = true

  /// Opens the file at `path`, which is absolute; makes it when it is not there, for this user
  /// alone, but not its folder.
  package init(path: String, access: Access, busyTimeout_ms: Int = busyTimeout_ms) throws {
    guard path.hasPrefix("/") else {
      throw StoreError("the database's path is \"\(path)\"; want an absolute one")
    }
    _ = Self.configuration
    if access != .look { Self.makePrivateFile(path) }
    var opened: OpaquePointer?
    // Never CREATE: SQLite's own file would be as open as the umask lets.
    let purpose = access == .look ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
    let flags = purpose | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      let isThere = access != .look || sqlite3_system_errno(opened) != ENOENT
      let reason =
        isThere
        ? sqliteReason(opened, code: code) : "is not there: the first role that starts makes it"
      sqlite3_close_v2(opened)
      throw StoreError("\(path): \(reason)")
    }
    self.path = path
    handle = opened
    sqlite3_busy_handler(
      handle, tryAgainSoon, UnsafeMutableRawPointer(bitPattern: busyTimeout_ms))
    // SQLite opens a file it may not write for reading only, and says nothing.
    guard access == .look || sqlite3_db_readonly(handle, "main") == 0 else {
      throw failure("is not writable for this user")
    }
    try configure(access)
  }

  deinit {
    for statement in statements.values { statement.finalize() }
    sqlite3_close_v2(handle)
  }

  /// Of the library, once for the process: before its first connection.
  private static let configuration = lockstep_sqlite_count_no_memory()

  /// It holds push tokens, and SQLite gives its log the same mode. Made without opening it: closing
  /// a file takes away every lock that this process has on it. What fails here, the opening says.
  private static func makePrivateFile(_ path: String) { mknod(path, S_IFREG | 0o600, 0) }

  private func configure(_ access: Access) throws {
    if access == .write { try switchToWriteAheadLog() }
    // FULL: in NORMAL a power failure can take back commits that were already answered for.
    try execute(script: "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")
    try execute(script: "PRAGMA wal_autocheckpoint = \(Self.checkpoint_pages);")
    if access != .write { try execute(script: "PRAGMA query_only = ON;") }
  }

  /// Two processes that create one file at once both want its exclusive lock, and SQLite answers
  /// one of them at once instead of letting it wait; an empty transaction does wait.
  private func switchToWriteAheadLog() throws {
    for _ in 0..<Self.creationAttemptsMax {
      let mode: String?
      do {
        mode = try first(ConnectionSQL.writeAheadLog) { try $0.next() }
      } catch let error as StoreError {
        guard sqlite3_errcode(handle) & 0xff == SQLITE_BUSY else { throw error }
        try execute(script: "BEGIN IMMEDIATE; COMMIT;")
        continue
      }
      guard mode == "wal" else {
        throw failure("cannot keep a write-ahead log (journal mode \(mode ?? "unknown"))")
      }
      return
    }
    throw failure("stayed locked while it was created")
  }
}

/// SQLite's own waiting sleeps longer and longer, up to 100 ms, so that among busy writers the one
/// who has waited longest tries least often. Trying every millisecond keeps the turns fair.
///
/// - Parameters:
///   - timeout_ms: no address but the number itself.
///   - attempts: how often it was called for this lock.
/// - Returns: 0 to give up.
private func tryAgainSoon(timeout_ms: UnsafeMutableRawPointer?, attempts: Int32) -> Int32 {
  guard Int(attempts) < Int(bitPattern: timeout_ms) else { return 0 }
  sqlite3_sleep(1)
  return 1
}

extension Connection: PooledConnection {
  /// Nobody takes a file away from who has it open.
  var isStillThere: Bool { true }
}

// MARK: Statements

extension Connection {
  /// Runs a statement that gives no rows.
  func run<each Value: SQLParameter>(_ sql: some SQLText, _ values: repeat each Value) throws {
    try prepared(sql).run(repeat each values)
  }

  /// - Returns: how many rows it inserted, changed or removed.
  func count<each Value: SQLParameter>(_ sql: some SQLText, _ values: repeat each Value) throws
    -> Int
  {
    try prepared(sql).run(repeat each values)
  }

  /// The first row, read by `read`; nil when there is none.
  func first<Element, each Value: SQLParameter>(
    _ sql: some SQLText, _ values: repeat each Value, read: (inout Row) throws -> Element
  ) throws -> Element? {
    try rows(sql, repeat each values, read: read).first
  }

  func rows<Element, each Value: SQLParameter>(
    _ sql: some SQLText, _ values: repeat each Value, read: (inout Row) throws -> Element
  ) throws -> [Element] {
    var elements: [Element] = []
    try prepared(sql).each(repeat each values) { elements.append(try read(&$0)) }
    return elements
  }

  /// A statement that many rows are to be run through: found once, not once for each.
  func prepared(_ sql: some SQLText) throws -> PreparedStatement {
    PreparedStatement(connection: self, statement: try prepared(sql.rawValue))
  }

  fileprivate func rows(_ statement: Statement, read: (inout Row) throws -> Void) throws {
    while true {
      let code = statement.step()
      guard code == SQLITE_ROW else { return try check(code) }
      var row = statement.row
      try read(&row)
    }
  }

  private func prepared(_ sql: String) throws -> Statement {
    if let failed { throw failed }
    if let known = statements[sql] { return known }
    var made: OpaquePointer?
    let keep = UInt32(SQLITE_PREPARE_PERSISTENT)
    try check(sqlite3_prepare_v3(handle, sql, -1, keep, &made, nil))
    guard let made else { preconditionFailure("an empty statement") }
    let statement = Statement(handle: made)
    statements[sql] = statement
    return statement
  }

  /// The lines of `EXPLAIN QUERY PLAN`.
  func plan(of sql: String) throws -> [String] {
    var made: OpaquePointer?
    try check(sqlite3_prepare_v2(handle, "EXPLAIN QUERY PLAN " + sql, -1, &made, nil))
    defer { sqlite3_finalize(made) }
    var lines: [String] = []
    while sqlite3_step(made) == SQLITE_ROW {
      lines.append(String(cString: sqlite3_column_text(made, 3)))
    }
    return lines
  }

  /// Runs fixed text of several statements.
  package func execute(script: String) throws {
    try check(sqlite3_exec(handle, script, nil, nil, nil))
  }

  fileprivate func checkStillGood() throws {
    if let failed { throw failed }
  }

  /// How many rows the last statement inserted, changed or removed.
  fileprivate var changes: Int { Int(sqlite3_changes64(handle)) }

  fileprivate func check(_ code: Int32) throws {
    guard code != SQLITE_OK, code != SQLITE_DONE else { return }
    let error = failure(sqliteReason(handle, code: code))
    if isInTransaction, failed == nil { failed = error }
    throw error
  }

  package func failure(_ reason: String) -> StoreError { StoreError("\(path): \(reason)") }
}

/// A statement and the connection that it was prepared on.
struct PreparedStatement {
  fileprivate let connection: Connection
  fileprivate let statement: Statement

  /// Runs it for one set of values, one per parameter.
  ///
  /// - Returns: how many rows it inserted, changed or removed.
  @discardableResult
  func run<each Value: SQLParameter>(_ values: repeat each Value) throws -> Int {
    try each(repeat each values) { _ in }
    return connection.changes
  }

  /// Runs it for one set of values, and has `read` read each row it gives.
  func each<each Value: SQLParameter>(
    _ values: repeat each Value, read: (inout Row) throws -> Void
  ) throws {
    try connection.checkStillGood()
    defer { statement.reset() }
    try connection.check(statement.bind(repeat each values))
    try connection.rows(statement, read: read)
  }

  /// Runs it with the values that `bind` appends, and has `read` read each row it gives.
  func each(
    binding bind: (inout Parameters) -> Void, read: (inout Row) throws -> Void = { _ in }
  ) throws {
    try connection.checkStillGood()
    defer { statement.reset() }
    try connection.check(statement.bind(bind))
    try connection.rows(statement, read: read)
  }
}

// MARK: Transactions

extension Connection {
  /// Runs `body` in a transaction. Once a statement failed, nothing more is done and nothing is
  /// kept, even if `body` goes on: SQLite may have rolled back already, and then what follows
  /// would be committed statement by statement.
  func transaction<Result>(_ access: Access, _ body: () throws -> Result) throws -> Result {
    // IMMEDIATE: a transaction that reads first and then writes would fail when another writer came
    // between.
    try run(access == .write ? ConnectionSQL.beginWriting : ConnectionSQL.beginReading)
    isInTransaction = true
    defer {
      isInTransaction = false
      failed = nil
    }
    do {
      let result = try body()
      try run(ConnectionSQL.commit)
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  private func rollBack() {
    guard sqlite3_get_autocommit(handle) == 0 else { return }
    if sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) != SQLITE_OK { isUsable = false }
  }
}

private enum ConnectionSQL: String, SQLText {
  case writeAheadLog = "PRAGMA journal_mode = WAL"
  case beginWriting = "BEGIN IMMEDIATE"
  case beginReading = "BEGIN"
  case commit = "COMMIT"
}
