import Dispatch
import Pipeline
import Synchronization

/// What a ``ConnectionPool`` must know of a connection.
protocol PooledConnection: Sendable {
  /// False once what it holds is not known any more: then nobody gets it again.
  var isUsable: Bool { get }
  /// Whether the other side still is there, as far as this side has heard. Asked before each loan
  /// but the first.
  var isStillThere: Bool { get }
}

/// Lends connections to one borrower each, at most `limit` at once.
final class ConnectionPool<Connection: PooledConnection>: Sendable {
  private let limit: Int
  private let wait_ms: Int
  private let open: @Sendable () throws -> Connection
  private let free: DispatchSemaphore
  private let idle = Mutex<[Connection]>([])

  /// A pool of `limit` connections at most; `open` makes one when none is idle. `wait_ms`: how long
  /// a borrower waits for one.
  init(limit: Int, wait_ms: Int = 10_000, open: @escaping @Sendable () throws -> Connection) {
    self.limit = limit
    self.wait_ms = wait_ms
    self.open = open
    free = DispatchSemaphore(value: limit)
  }

  /// - Throws: ``StoreError`` when all stay lent, or one cannot be opened; whatever `body` threw.
  func withConnection<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    guard free.wait(timeout: .now() + .milliseconds(wait_ms)) == .success else {
      throw StoreError("all \(limit) connections stayed in use for \(wait_ms) ms")
    }
    defer { free.signal() }
    let connection = try takeIdle() ?? open()
    defer {
      if connection.isUsable { idle.withLock { $0.append(connection) } }
    }
    return try body(connection)
  }

  /// Of the idle ones the last used, so that those that are never needed stay closed; what has
  /// ended meanwhile is left out.
  private func takeIdle() -> Connection? {
    while let connection = idle.withLock({ $0.popLast() }) {
      if connection.isStillThere { return connection }
    }
    return nil
  }

  /// After one was lost: the others have most likely gone with it.
  func forgetIdle() { idle.withLock { $0 = [] } }
}
