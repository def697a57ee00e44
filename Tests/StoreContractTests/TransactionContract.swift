import Pipeline
import Sessions
import Testing
import Vocabulary

private struct GaveUp: Error {}

@Suite struct TransactionContract {
  @Test(arguments: StoreUnderTest.allCases)
  func `a transaction that throws leaves nothing behind`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { try $0.save(Profile(userID: dennis, name: "Dennis")) }
    #expect(throws: GaveUp.self) {
      try store.write { rows in
        try rows.save(Profile(userID: dennis, name: "Changed"))
        try rows.save(session())
        try rows.append(event("e1"))
        try rows.save([activityState()])
        throw GaveUp()
      }
    }
    try store.read { rows throws in
      #expect(try rows.profiles(of: [dennis])[dennis]?.name == "Dennis")
      #expect(try rows.session(dinner) == nil)
      #expect(try rows.outboxDepth().events == 0)
      #expect(try rows.activityStates([dinnerOfDennis]).isEmpty)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a transaction sees what it wrote, others do not until it commits`(kind: StoreUnderTest)
    throws
  {
    let store = try kind.open()
    let other = try store.secondHandle()
    try store.write { rows in
      try rows.save(session())
      #expect(try rows.session(dinner) != nil)
      #expect(try other.read { try $0.session(dinner) } == nil)
    }
    #expect(try other.read { try $0.session(dinner) } != nil)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a read sees one moment throughout`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.read { rows throws in
      #expect(try rows.session(dinner) == nil)
      try store.write { try $0.save(session()) }
      #expect(try rows.session(dinner) == nil)
    }
    #expect(try store.read { try $0.session(dinner) } != nil)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a read refuses to write`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    #expect(throws: StoreError.self) { try store.read { try $0.save(session()) } }
    #expect(try store.read { try $0.session(dinner) } == nil)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `after a failed statement nothing is kept, even if the body goes on`(kind: StoreUnderTest)
    throws
  {
    let store = try kind.open()
    let outcome = Result {
      try store.write { rows in
        try rows.append(event("e1"))
        _ = try rows.insert(notification("n1", dedupeKey: "a"))
        #expect(throws: StoreError.self) { try rows.insert(notification("n1", dedupeKey: "b")) }
        #expect(throws: StoreError.self) { try rows.append(event("e2")) }
      }
    }
    #expect(throws: StoreError.self) { try outcome.get() }
    #expect(try store.read { try $0.outboxDepth().events } == 0)
    try store.write { try $0.append(event("e3")) }
    #expect(try store.read { try $0.outboxDepth().events } == 1)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a transaction is of no use after its end`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let kept = try store.write { $0 }
    #expect(throws: StoreError("a transaction was used after its end")) {
      try kept.session(dinner)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `what was committed is there for a handle opened later`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      try rows.save(session(rev: 7))
      try rows.append(event("e1"))
    }
    let later = try store.secondHandle()
    try later.read { rows throws in
      #expect(try rows.session(dinner)?.rev == 7)
      #expect(try rows.outboxDepth().events == 1)
    }
  }
}
