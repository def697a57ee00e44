import Pipeline
import Testing
import Vocabulary

@Suite struct OutboxContract {
  private let until = noon + .seconds(30)

  @Test(arguments: StoreUnderTest.allCases)
  func `events come oldest first, whole, with rising sequences`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    for id in ["e1", "e2", "e3"] { try store.write { try $0.append(event(id)) } }
    let leased = try store.write { try $0.leaseEvents(atMost: 2, now: noon, until: until) }
    #expect(leased.map(\.message.id) == ["e1", "e2"])
    #expect(leased[0].sequence > 0 && leased[0].sequence < leased[1].sequence)
    #expect(leased[0].message == event("e1").message)
    #expect(leased[0].routingKey == "cooksuggest.session.picked")
    #expect(leased[0].storedAt == noon)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a lease holds until its end and not longer`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      try rows.append(event("e1"))
      #expect(try rows.leaseEvents(atMost: 5, now: noon, until: until).count == 1)
      let justBefore = until - .milliseconds(1)
      #expect(try rows.leaseEvents(atMost: 5, now: justBefore, until: until).isEmpty)
      let again = try rows.leaseEvents(atMost: 5, now: until, until: until + .seconds(30))
      #expect(again.map(\.message.id) == ["e1"])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `released events are free at once and keep their place`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      for id in ["e1", "e2"] { try rows.append(event(id)) }
      let held = try rows.leaseEvents(atMost: 1, now: noon, until: until)
      try rows.releaseEvents(held.map(\.sequence))
      let all = try rows.leaseEvents(atMost: 5, now: noon, until: until)
      #expect(all.map(\.message.id) == ["e1", "e2"])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `removed events are gone, and their sequences are never used again`(kind: StoreUnderTest)
    throws
  {
    let store = try kind.open()
    let last = try store.write { rows in
      for id in ["e1", "e2"] { try rows.append(event(id)) }
      let held = try rows.leaseEvents(atMost: 5, now: noon, until: until)
      try rows.removeEvents(held.map(\.sequence) + [99])
      #expect(try rows.outboxDepth() == (0, nil))
      return held[1].sequence
    }
    let next = try store.write { rows in
      try rows.append(event("e3"))
      return try rows.leaseEvents(atMost: 5, now: noon, until: until)
    }
    #expect(next.map(\.message.id) == ["e3"])
    #expect(next[0].sequence > last)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `the depth counts leased events too and tells since when the oldest waits`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    try store.write { rows in
      #expect(try rows.outboxDepth() == (0, nil))
      try rows.append(event("e1", storedAt: noon))
      try rows.append(event("e2", storedAt: noon + .seconds(5)))
      let held = try rows.leaseEvents(atMost: 1, now: noon, until: until)
      #expect(try rows.outboxDepth() == (2, noon))
      try rows.removeEvents(held.map(\.sequence))
      #expect(try rows.outboxDepth() == (1, noon + .seconds(5)))
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `two handles that race for leases never get the same event`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let handles = try [store.secondHandle(), store.secondHandle()]
    try store.write { rows in
      for number in 0..<300 { try rows.append(event("e\(number)")) }
    }
    let taken = atOnce(handles.count) { place in
      var ids: [String] = []
      while true {
        let batch = try handles[place].write {
          try $0.leaseEvents(atMost: 7, now: noon, until: until)
        }
        if batch.isEmpty { return ids }
        ids += batch.map(\.message.id)
      }
    }
    let ids = try taken.flatMap { try $0.get() }
    #expect(ids.count == 300)
    #expect(Set(ids).count == 300)
  }
}
