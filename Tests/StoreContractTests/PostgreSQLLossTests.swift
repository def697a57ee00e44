import Glibc
import Pipeline
import PostgreSQLStore
import Sessions
import TestSupport
import Testing
import Vocabulary

/// A server that goes away and comes back.
@Suite struct PostgreSQLLossTests {
  @Test(arguments: [false, true])
  func `after a restart the store goes on by itself, and what was committed is there`(
    isSudden: Bool
  ) throws {
    let server = try PrivateDatabase()
    let store = try PostgreSQLStore(PostgreSQLAddress(parsing: server.url))
    try store.write { try $0.save(session(rev: 3)) }
    #expect(try store.read { try $0.session(dinner)?.rev } == 3)
    let password = try #require(try server.url.split(separator: ":")[2].split(separator: "@").first)
    if isSudden { try server.kill() } else { try server.stop() }
    for _ in 0..<3 {
      let away = #expect(throws: StoreError.self) { try store.read { try $0.session(dinner) } }
      #expect(away?.reason.contains("cannot be reached") == true)
      #expect(away?.reason.contains(password) == false)
      #expect(throws: StoreError.self) { try store.write { try $0.save(session(rev: 4)) } }
    }
    try server.start()
    #expect(try store.read { try $0.session(dinner)?.rev } == 3)
    try store.write { try $0.save(session(rev: 5)) }
    #expect(try store.read { try $0.session(dinner)?.rev } == 5)
  }

  @Test func `a restart in the middle of a transaction is not noticed by its caller`() throws {
    let server = try PrivateDatabase()
    let store = try PostgreSQLStore(PostgreSQLAddress(parsing: server.url))
    var attempts = 0
    try store.write { rows in
      attempts += 1
      try rows.save(session(rev: attempts))
      if attempts == 1 {
        _ = try rows.session(dinner)
        try server.kill()
        try server.start()
      }
      #expect(try rows.session(dinner)?.rev == attempts)
    }
    #expect(attempts == 2)
    #expect(try store.read { try $0.session(dinner)?.rev } == 2)
  }

  @Test func `a server that stands still is given up`() throws {
    let server = try PrivateDatabase()
    let address = try PostgreSQLAddress(parsing: server.url)
    let store = try PostgreSQLStore(address, answerMost: .seconds(1))
    try store.write { try $0.save(session()) }
    try server.signalAll(SIGSTOP)
    defer { _ = Result { try server.signalAll(SIGCONT) } }
    let begun = ContinuousClock.now
    #expect(throws: StoreError.self) { try store.read { try $0.session(dinner) } }
    #expect(.now - begun < .seconds(30))
    try server.signalAll(SIGCONT)
    #expect(try store.read { try $0.session(dinner) } != nil)
  }
}
