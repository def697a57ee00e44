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
  func `whether anything may be leased is known without leasing`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    #expect(try !store.read { try $0.hasFreeEvents(now: noon) })
    try store.write { rows in
      try rows.append(event("e1", orderKey: "cs_1"))
      try rows.append(event("e2", orderKey: "cs_1"))
      #expect(try rows.hasFreeEvents(now: noon))
      let held = try rows.leaseEvents(atMost: 1, now: noon, until: until)
      #expect(held.map(\.message.id) == ["e1"])
      #expect(try !rows.hasFreeEvents(now: noon), "the second waits behind the first")
      #expect(try rows.hasFreeEvents(now: until))
      // Parked, it holds nothing back.
      try rows.postponeEvents(held.map(\.sequence), until: until, parking: true)
      #expect(try rows.hasFreeEvents(now: noon))
      let second = try rows.leaseEvents(atMost: 5, now: noon, until: until)
      #expect(second.map(\.message.id) == ["e2"])
      try rows.removeEvents(second.map(\.sequence))
      #expect(try !rows.hasFreeEvents(now: noon))
      #expect(try rows.outboxDepth().events == 1)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a hold from before the clock was set back holds nothing`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      for id in ["e1", "e2"] { try rows.append(event(id, orderKey: "cs_1")) }
      _ = try rows.leaseEvents(atMost: 1, now: noon, until: until)
      let earlier = noon - .seconds(7200)
      #expect(try rows.hasFreeEvents(now: earlier))
      let leased = try rows.leaseEvents(
        atMost: 5, now: earlier, until: earlier + .seconds(30))
      #expect(leased.map(\.message.id) == ["e1", "e2"])
      let longest = noon - OutboxEvent.holdMax
      _ = try rows.leaseEvents(atMost: 5, now: noon, until: noon)
      #expect(try !rows.hasFreeEvents(now: longest))
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

  @Test(arguments: StoreUnderTest.allCases)
  func `behind an event that is held, those of its key wait and others do not`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    try store.write { rows in
      for (id, key) in [("a1", "a"), ("a2", "a"), ("b1", "b"), ("x", nil)] {
        try rows.append(event(id, orderKey: key))
      }
      let held = try rows.leaseEvents(atMost: 1, now: noon, until: until)
      #expect(held.map(\.message.id) == ["a1"])
      #expect(held.map(\.orderKey) == ["a"])
      let free = try rows.leaseEvents(atMost: 9, now: noon, until: until)
      #expect(free.map(\.message.id) == ["b1", "x"])
      try rows.removeEvents(held.map(\.sequence))
      #expect(
        try rows.leaseEvents(atMost: 9, now: noon, until: until).map(\.message.id) == ["a2"])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `one lease takes a key's events together, in order`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      for id in ["a1", "a2", "a3"] { try rows.append(event(id, orderKey: "a")) }
      let all = try rows.leaseEvents(atMost: 9, now: noon, until: until)
      #expect(all.map(\.message.id) == ["a1", "a2", "a3"])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a postponed event counts its tries and comes again at its time, before its key's others`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    try store.write { rows in
      for id in ["a1", "a2"] { try rows.append(event(id, orderKey: "a")) }
      let first = try rows.leaseEvents(atMost: 1, now: noon, until: until)
      try rows.postponeEvents(first.map(\.sequence), until: noon + .seconds(5), parking: false)
      #expect(try rows.leaseEvents(atMost: 9, now: noon, until: until).isEmpty)
      let later = noon + .seconds(5)
      let again = try rows.leaseEvents(atMost: 9, now: later, until: until)
      #expect(again.map(\.message.id) == ["a1", "a2"])
      #expect(again.map(\.tries) == [1, 0])
      #expect(try rows.parkedEvents() == 0)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a parked event holds back nothing, is counted, and comes again at its time`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    try store.write { rows in
      try rows.append(event("a1", storedAt: noon, orderKey: "a"))
      try rows.append(event("a2", storedAt: noon + .seconds(1), orderKey: "a"))
      let first = try rows.leaseEvents(atMost: 1, now: noon, until: until)
      try rows.postponeEvents(first.map(\.sequence), until: noon + .seconds(5), parking: true)
      #expect(try rows.parkedEvents() == 1)
      #expect(try rows.outboxDepth() == (2, noon + .seconds(1)))
      let flowing = try rows.leaseEvents(atMost: 9, now: noon, until: until)
      #expect(flowing.map(\.message.id) == ["a2"])
      let again = try rows.leaseEvents(atMost: 9, now: noon + .seconds(5), until: until)
      #expect(again.map(\.message.id) == ["a1"])
      try rows.postponeEvents(again.map(\.sequence), until: noon + .seconds(9), parking: false)
      #expect(try rows.parkedEvents() == 1, "parked it stays until it goes")
      try rows.removeEvents(again.map(\.sequence))
      #expect(try rows.parkedEvents() == 0)
    }
  }
}
