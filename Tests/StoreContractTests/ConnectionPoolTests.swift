import Pipeline
import Synchronization
import Testing

@testable import SQLiteStore

/// The pool that both databases' connections are lent from.
@Suite struct ConnectionPoolTests {
  private final class Line: PooledConnection {
    let number: Int
    private let state = Mutex<(isUsable: Bool, isStillThere: Bool)>((true, true))

    init(number: Int) { self.number = number }

    var isUsable: Bool { state.withLock { $0.isUsable } }
    var isStillThere: Bool { state.withLock { $0.isStillThere } }

    func breakInUse() { state.withLock { $0.isUsable = false } }
    func endWhileIdle() { state.withLock { $0.isStillThere = false } }
  }

  /// Opens lines 1, 2, 3 …
  private func pool(limit: Int, wait_ms: Int = 10_000) -> ConnectionPool<Line> {
    let opened = Mutex(0)
    return ConnectionPool(limit: limit, wait_ms: wait_ms) {
      Line(
        number: opened.withLock {
          $0 += 1
          return $0
        })
    }
  }

  @Test func `a connection is opened when none is idle, and the last used is lent first`() throws {
    let pool = pool(limit: 3)
    try pool.withConnection { first in
      #expect(first.number == 1)
      try pool.withConnection { second in #expect(second.number == 2) }
      let again = try pool.withConnection(\.number)
      #expect(again == 2)
    }
    #expect(try pool.withConnection(\.number) == 1)
  }

  @Test func `when all stay lent the borrower hears of it, and is served once one is back`() throws
  {
    let pool = pool(limit: 1, wait_ms: 20)
    try pool.withConnection { _ in
      let error = StoreError("all 1 connections stayed in use for 20 ms")
      #expect(throws: error) { try pool.withConnection { _ in } }
    }
    #expect(try pool.withConnection(\.number) == 1)
  }

  @Test func `borrowers that come at once take turns`() throws {
    let pool = pool(limit: 1)
    let meeting = Meeting()
    let lent = atOnce(2) { _ in
      try pool.withConnection { line in
        meeting.attend()
        return line.number
      }
    }
    #expect(try lent.map { try $0.get() } == [1, 1])
  }

  @Test func `what broke in use is not lent again, even when its borrower threw`() throws {
    struct Refused: Error {}
    let pool = pool(limit: 1)
    #expect(throws: Refused.self) {
      try pool.withConnection {
        $0.breakInUse()
        throw Refused()
      }
    }
    #expect(try pool.withConnection(\.number) == 2)
    #expect(throws: Refused.self) { try pool.withConnection { _ in throw Refused() } }
    #expect(try pool.withConnection(\.number) == 2)
  }

  @Test func `what ended while it was idle is passed over`() throws {
    let pool = pool(limit: 2)
    try pool.withConnection { first in
      try pool.withConnection { second in second.endWhileIdle() }
      #expect(try pool.withConnection(\.number) == 3)
      first.endWhileIdle()
    }
    #expect(try pool.withConnection(\.number) == 3)
  }

  @Test func `a connection that cannot be opened takes no place`() throws {
    let isAway = Mutex(true)
    let pool = ConnectionPool(limit: 1, wait_ms: 20) {
      guard isAway.withLock({ !$0 }) else { throw StoreError("away") }
      return Line(number: 7)
    }
    for _ in 0..<2 { #expect(throws: StoreError("away")) { try pool.withConnection { _ in } } }
    isAway.withLock { $0 = false }
    #expect(try pool.withConnection(\.number) == 7)
  }

  @Test func `idle ones can be forgotten`() throws {
    let pool = pool(limit: 2)
    #expect(try pool.withConnection(\.number) == 1)
    pool.forgetIdle()
    #expect(try pool.withConnection(\.number) == 2)
  }
}
