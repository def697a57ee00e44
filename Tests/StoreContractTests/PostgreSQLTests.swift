import Foundation
import Pipeline
import PostgreSQLStore
import ServiceRuntime
import Sessions
import TestSupport
import Testing
import Vocabulary

/// What is PostgreSQL's own.
@Suite struct PostgreSQLTests {
  @Test func `no statement reads a whole table`() throws {
    let database = try DatabaseUnderTest()
    let plans = try PostgreSQLStore(database.address).queryPlans()
    #expect(plans.count > 80)
    for (statement, lines) in plans {
      #expect(
        !lines.contains { $0.contains("Seq Scan on") },
        "\(statement)\n\(lines.joined(separator: "\n"))")
    }
  }

  @Test func `of many processes that start at once each finds one schema`() throws {
    let database = try DatabaseUnderTest()
    let address = try database.address
    let opened = atOnce(6) { place in
      let store = try PostgreSQLStore(address)
      try store.write { try $0.append(event("e\(place)")) }
    }
    for outcome in opened { try outcome.get() }
    #expect(try PostgreSQLStore(address).read { try $0.outboxDepth().events } == 6)
    let steps = try database.execute("SELECT count(*) FROM schema_steps")
    #expect(steps == ["\(Migrations.all.count)"])
  }

  @Test func `what is done again is counted`() throws {
    let database = try DatabaseUnderTest()
    let metrics = Metrics()
    let store = try PostgreSQLStore(database.address, metrics: metrics)
    let other = try PostgreSQLStore(database.address)
    try store.write { try $0.save(session(rev: 1)) }
    var seen: [Int] = []
    try store.write { rows in
      let rev = try #require(try rows.session(dinner)).rev
      seen.append(rev)
      if seen.count == 1 { try other.write { try $0.save(session(rev: 2)) } }
      try rows.save(session(rev: rev + 1))
    }
    #expect(seen == [1, 2])
    #expect(metrics.text().contains(#"lockstep_store_repeats_total{because="clash"} 1"#))
    #expect(metrics.text().contains(#"lockstep_store_repeats_total{because="loss"} 0"#))
  }

  @Test func `a newer program that only added is worked with, one that wants more is not`() throws {
    let database = try DatabaseUnderTest()
    _ = try PostgreSQLStore(database.address)
    let next = Migrations.all.count + 1
    try database.execute("INSERT INTO schema_steps VALUES (\(next), 1)")
    let store = try PostgreSQLStore(database.address)
    try store.write { try $0.append(event("e1")) }
    try database.execute("UPDATE schema_steps SET wants = \(next) WHERE step = \(next)")
    let error = #expect(throws: StoreError.self) { try PostgreSQLStore(database.address) }
    #expect(error?.reason.contains("start the newer program") == true)
  }

  @Test func `a step that fails leaves the schema as it was`() throws {
    let database = try DatabaseUnderTest()
    _ = try PostgreSQLStore(database.address)
    let connection = try Connection(database.address)
    let broken = Migrations.Step("CREATE TABLE half (); CREATE TABLE half ();")
    #expect(throws: StoreError.self) {
      try Migrations.apply(Migrations.all + [broken], to: connection)
    }
    #expect(try database.execute("SELECT to_regclass('half') IS NULL") == ["t"])
    try Migrations.apply(Migrations.all + [.init("CREATE TABLE whole ()")], to: connection)
    #expect(try database.execute("SELECT to_regclass('whole') IS NULL") == ["f"])
  }

  @Test func `somebody else's schema is refused`() throws {
    let database = try DatabaseUnderTest()
    try database.execute("CREATE TABLE theirs ()")
    let error = #expect(throws: StoreError.self) { try PostgreSQLStore(database.address) }
    #expect(error?.reason.contains("is not a Lockstep database") == true)
    #expect(try database.execute("SELECT to_regclass('sessions') IS NULL") == ["t"])
  }

  @Test func `looking makes nothing and changes nothing`() throws {
    let database = try DatabaseUnderTest()
    let error = #expect(throws: StoreError.self) {
      try PostgreSQLStore(lookingAt: database.address)
    }
    #expect(error?.reason.contains("is not a Lockstep database") == true)
    try PostgreSQLStore(database.address).write { try $0.save(session()) }
    let looking = try PostgreSQLStore(lookingAt: database.address)
    #expect(try looking.read { try $0.session(dinner) } != nil)
    #expect(throws: StoreError("cannot be written: it was opened to look at")) {
      try looking.write { try $0.save(session(rev: 2)) }
    }
    #expect(throws: StoreError.self) { try looking.read { try $0.save(session(rev: 2)) } }
  }

  @Test func `no error shows a password`() throws {
    for wrong in [
      "postgresql://u:s3cret%zz@h/d", "postgresql://u:s3cret@[h",
      "postgresql://u:s3cret@h/d?nonsense=1", "mysql://u:s3cret@h/d",
    ] {
      let error = #expect(throws: (any Error).self) { try PostgreSQLAddress(parsing: wrong) }
      #expect(error.map { "\($0)".contains("s3cret") } == false, "\(wrong)")
    }
    let away = try PostgreSQLAddress(parsing: "postgresql://u:s3cret@127.0.0.1:1/d")
    #expect("\(away)" == "postgresql://127.0.0.1:1/d")
    let refused = #expect(throws: StoreError.self) { try PostgreSQLStore(away) }
    #expect(refused?.reason.contains("s3cret") == false)
    #expect(refused?.reason.contains("cannot be reached") == true)
  }

  /// Waited for like a store that is away, one such message would hold up its queue for ever.
  @Test func `what cannot be kept is told from a store that is away`() throws {
    let database = try DatabaseUnderTest()
    let store = try PostgreSQLStore(database.address)
    let long = (0..<4000).map { String($0, radix: 36) }.joined()
    #expect(throws: UnstorableValue.self) {
      try store.write { try $0.save([activityState(ContextKey(long))]) }
    }
    #expect(throws: UnstorableValue.self) {
      try store.write { try $0.saveAnswers(Data([0x22, 0xFF, 0x22]), of: dennis, in: dinner) }
    }
    try store.write { try $0.save([activityState()]) }
    #expect(
      try store.read { try $0.activityStates([ContextKey(long), dinnerOfDennis]).count } == 1)
  }

  /// More than the attempts on snapshots would bear: the last one is alone.
  @Test func `many writers of one row all come through`() throws {
    let database = try DatabaseUnderTest()
    let address = try database.address
    let store = try PostgreSQLStore(address)
    try store.write { try $0.save(session()) }
    let writers = 8
    let rounds = 20
    let done = atOnce(writers) { _ in
      let own = try PostgreSQLStore(address)
      for _ in 0..<rounds {
        try own.write { rows in
          let rev = try rows.session(dinner)?.rev ?? 0
          try rows.save(session(rev: rev + 1))
        }
      }
    }
    for outcome in done { try outcome.get() }
    #expect(try store.read { try $0.session(dinner)?.rev } == writers * rounds + 1)
  }

  @Test func `a long run of writes without a question stays within what is under way`() throws {
    let database = try DatabaseUnderTest()
    let store = try PostgreSQLStore(database.address)
    try store.write { rows in
      for number in 0..<500 { try rows.append(event("e\(number)")) }
    }
    #expect(try store.read { try $0.outboxDepth().events } == 500)
  }
}
