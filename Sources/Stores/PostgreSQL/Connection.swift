import CPostgreSQL
import Glibc
import Pipeline
import ServiceRuntime

/// One PostgreSQL connection with the statements prepared on it.
///
/// It works in libpq's pipeline mode: a statement that gives nothing back is only sent, and what
/// became of it is read with the next answer that somebody wants, at the latest at the commit. So a
/// transaction costs as many round trips as it has questions, and one for its end.
///
/// Unchecked: one thread at a time uses it; ``ConnectionPool`` lends it to one borrower only.
package final class Connection: PooledConnection, @unchecked Sendable {
  /// How long the server may take for one statement, and for one lock.
  static let statement_ms = 10_000
  /// How long one answer may take before the connection counts as dead.
  package static let answerMost: Duration = .seconds(15)
  /// A process that stands still in the middle of a transaction holds up others no longer.
  static let idleInTransaction_ms = 60_000
  /// Statements that may be under way before their ends are read.
  private static let inFlightMax = 64

  package let address: PostgreSQLAddress
  private let answerMost: Duration
  let handle: OpaquePointer
  /// Statement text → the name it is prepared by.
  private var names: [String: String] = [:]
  private var namesGiven = 0
  private var inFlight: [Sent] = []
  /// The first failure of the open transaction: after it nothing more is done in it.
  private(set) var failed: Failure?
  /// False once it is lost: what it held is not known any more.
  private(set) var isUsable = true
  private let clock: any TimeSource = SystemTime()

  /// What was sent and not answered yet.
  private enum Sent {
    case preparation(of: String)
    case statement
    /// The end of a transaction that only read: nobody waits for it, whatever it says.
    case farewell
    case end
  }

  /// Connects and prepares the session.
  ///
  /// - Throws: ``StoreError``.
  package init(
    _ address: PostgreSQLAddress, onlyReads: Bool = false, answerMost: Duration = answerMost
  ) throws {
    self.address = address
    self.answerMost = answerMost
    guard let handle = address.connect() else { throw StoreError("\(address): out of memory") }
    self.handle = handle
    guard PQstatus(handle) == CONNECTION_OK, PQsetnonblocking(handle, 1) == 0 else {
      throw StoreError("\(address): cannot be reached: \(Failure(lossOf: handle).reason)")
    }
    guard PQserverVersion(handle) >= 130_000 else {
      throw StoreError("\(address): is older than PostgreSQL 13, the oldest that will do")
    }
    // Every statement looks rows up by key, so a plan that reads whole tables, which is cheap while
    // they are small, is always wrong: it also makes each writer clash with each other.
    try execute(
      script: """
        SET statement_timeout = \(Self.statement_ms); SET lock_timeout = \(Self.statement_ms);
        SET idle_in_transaction_session_timeout = \(Self.idleInTransaction_ms);
        SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
        SET jit = off; SET default_transaction_read_only = \(onlyReads ? "on" : "off");
        SET client_min_messages = error;
        """)
    let encoding = PQparameterStatus(handle, "server_encoding").map { String(cString: $0) }
    guard encoding == "UTF8" else {
      throw StoreError("\(address): is in \(encoding ?? "no encoding"), want a database in UTF8")
    }
    guard PQenterPipelineMode(handle) == 1 else {
      throw StoreError("\(address): \(Failure(lossOf: handle).reason)")
    }
  }

  deinit { PQfinish(handle) }

  /// What callers are told: ``StoreError``, or ``UnstorableValue``.
  func failure(_ failure: Failure) -> any Error {
    let reason = "\(address): \(failure.reason)"
    return failure.isOfValue ? UnstorableValue(reason: reason) : StoreError(reason)
  }

  /// Whether the other side still is there, as far as this side has heard.
  var isStillThere: Bool {
    guard isUsable else { return false }
    let descriptor = PQsocket(handle)
    guard descriptor >= 0 else { return false }
    // What an idle connection hears is that it has ended, or what was left of a farewell.
    guard Poll.isReadable(descriptor) else { return true }
    return PQconsumeInput(handle) == 1 && PQstatus(handle) == CONNECTION_OK
  }

  /// A new transaction begins: what was before is forgotten.
  func forgetFailure() { failed = nil }

  /// What it holds is not known any more.
  func abandon() { isUsable = false }

  private func lose(_ failure: Failure) -> Failure {
    isUsable = false
    inFlight = []
    if failed == nil { failed = failure }
    return failure
  }

  private func note(_ failure: Failure) {
    if failed == nil { failed = failure }
    if failure.isLoss || failure.isOfStandby { isUsable = false }
  }
}

// MARK: The pipeline

extension Connection {
  /// Sends a statement whose rows nobody wants; a failure shows at the latest at the commit.
  func post(_ sql: some SQLText, _ parameters: Parameters) throws {
    try send(sql.rawValue, parameters)
    if inFlight.count >= Self.inFlightMax { try settle() }
  }

  /// - Returns: what the statement gave; the caller clears it.
  func ask(_ sql: some SQLText, _ parameters: Parameters) throws -> OpaquePointer? {
    try send(sql.rawValue, parameters)
    return try finish()
  }

  private func send(_ sql: String, _ parameters: Parameters) throws {
    if let failed { throw failure(failed) }
    let name = try preparedName(sql, parameters.types)
    let isSent = parameters.withPointers { starts, lengths, formats in
      PQsendQueryPrepared(handle, name, Int32(starts.count), starts, lengths, formats, 1)
    }
    guard isSent == 1 else { throw failure(lose(Failure(lossOf: handle))) }
    inFlight.append(.statement)
  }

  private func preparedName(_ sql: String, _ types: [UInt32]) throws -> String {
    if let name = names[sql] { return name }
    namesGiven += 1
    let name = "s\(namesGiven)"
    guard PQsendPrepare(handle, name, sql, Int32(types.count), types) == 1 else {
      throw failure(lose(Failure(lossOf: handle)))
    }
    names[sql] = name
    inFlight.append(.preparation(of: sql))
    return name
  }

  /// Waits for everything that was sent.
  ///
  /// - Returns: what the last statement gave; the caller clears it.
  /// - Throws: ``StoreError`` for the first failure of the transaction.
  private func finish() throws -> OpaquePointer? {
    try mark()
    var last: OpaquePointer?
    do {
      for sent in inFlight { try takeAnswer(to: sent, &last) }
      inFlight = []
      if let failed { throw failure(failed) }
      return last
    } catch {
      PQclear(last)
      throw error
    }
  }

  private func takeAnswer(to sent: Sent, _ last: inout OpaquePointer?) throws {
    switch sent {
    case .end: PQclear(try answer())
    case .statement:
      PQclear(last)
      last = nil
      last = try settled()
    case .preparation(let sql):
      let result = try settled()
      if PQresultStatus(result) != PGRES_COMMAND_OK { names[sql] = nil }
      PQclear(result)
    case .farewell:
      let before = failed
      PQclear(try settled())
      if isUsable { failed = before }
    }
  }

  /// Waits for everything that was sent, and wants nothing of it.
  func settle() throws { PQclear(try finish()) }

  /// Ends a transaction that only read, and leaves it to the next one to hear of it.
  func sayFarewell(_ sql: some SQLText) throws {
    try send(sql.rawValue, Parameters())
    inFlight[inFlight.count - 1] = .farewell
    try mark()
    _ = PQflush(handle)
  }

  /// Whether there is anything that was not asked about yet.
  var hasUnread: Bool {
    if case .end? = inFlight.last { return false }
    return !inFlight.isEmpty
  }

  private func mark() throws {
    guard hasUnread else { return }
    guard PQpipelineSync(handle) == 1 else { throw failure(lose(Failure(lossOf: handle))) }
    inFlight.append(.end)
  }

  /// One statement's whole answer: libpq says nil behind each.
  private func settled() throws -> OpaquePointer? {
    let result = try answer()
    PQclear(try answer())
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_PIPELINE_ABORTED: break
    default: note(Failure(of: result, on: handle))
    }
    return result
  }

  /// The next answer, waited for.
  private func answer() throws -> OpaquePointer? {
    let begun = clock.elapsed()
    while PQisBusy(handle) == 1 {
      let left = answerMost - (clock.elapsed() - begun)
      guard left > .zero else {
        throw failure(lose(Failure(state: nil, reason: "did not answer within \(answerMost)")))
      }
      let isFlushed = PQflush(handle)
      let events = isFlushed == 1 ? Poll.readable | Poll.writable : Poll.readable
      if isFlushed >= 0 { Poll.wait([(PQsocket(handle), events)], atMost: left) }
      guard isFlushed >= 0, PQconsumeInput(handle) == 1 else {
        throw failure(lose(Failure(lossOf: handle)))
      }
    }
    let result = PQgetResult(handle)
    if PQstatus(handle) != CONNECTION_OK {
      PQclear(result)
      throw failure(lose(Failure(lossOf: handle)))
    }
    return result
  }
}

// MARK: Scripts

extension Connection {
  /// Runs fixed text of several statements, outside of the pipeline.
  ///
  /// - Returns: the first column of what the last one gave, as text.
  /// - Throws: ``StoreError``.
  @discardableResult
  package func execute(script: String) throws -> [String] {
    if !inFlight.isEmpty { try settle() }
    let wasInPipeline = PQpipelineStatus(handle) != PQ_PIPELINE_OFF
    if wasInPipeline { _ = PQexitPipelineMode(handle) }
    defer { if wasInPipeline { _ = PQenterPipelineMode(handle) } }
    guard PQsendQuery(handle, script) == 1 else {
      throw failure(lose(Failure(lossOf: handle)))
    }
    var first: Failure?
    var texts: [String] = []
    while let result = try answer() {
      defer { PQclear(result) }
      if PQresultStatus(result) == PGRES_FATAL_ERROR {
        first = first ?? Failure(of: result, on: handle)
      }
      texts = (0..<PQntuples(result)).map { String(cString: PQgetvalue(result, $0, 0)) }
    }
    guard let first else { return texts }
    note(first)
    throw failure(first)
  }
}
