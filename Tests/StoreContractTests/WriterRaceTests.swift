import Foundation
import Pipeline
import Pushes
import Sessions
import Synchronization
import Testing
import Vocabulary

/// Writers on connections of their own, all at once: each place where code reads and then writes,
/// and leans on what it read still being so at its commit.
@Suite struct WriterRaceTests {
  private static let writers = 4
  private static let rounds = 25
  /// Of those that meet: each is a sure collision.
  private static let meetings = 4

  /// `count` holds on one store, as processes of their own have them.
  private func handles(_ store: OpenStore, _ count: Int = writers) throws -> [any Store] {
    try (0..<count).map { _ in try store.secondHandle() }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `each mutation of a session builds on the one before, and the outbox has their order`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    let handles = try handles(store)
    try store.write { try $0.save(session()) }
    let done = atOnce(Self.writers) { place in
      for _ in 0..<Self.rounds {
        try handles[place].write { rows in
          guard let seen = try rows.session(dinner) else { throw StoreError("no session") }
          try rows.append(event("e\(seen.rev + 1)", orderKey: dinner.text))
          try rows.save(session(rev: seen.rev + 1))
        }
      }
    }
    for outcome in done { try outcome.get() }
    let revs = Self.writers * Self.rounds + 1
    #expect(try store.read { try $0.session(dinner)?.rev } == revs)
    let events = try store.write {
      try $0.leaseEvents(atMost: 1000, now: noon, until: noon + .seconds(1))
    }
    #expect(events.map(\.message.id) == (2...revs).map { "e\($0)" })
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `of states that come to several builders the newest stays`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let handles = try handles(store)
    let stored = atOnce(Self.writers) { place -> [Int] in
      // Each has every fourth rev, some of them out of order.
      let revs = (0..<Self.rounds).map { $0 * Self.writers + place + 1 }
      return try revs.sorted { $0 ^ 2 < $1 ^ 2 }.filter { rev in
        try handles[place].write { rows in
          let known = try rows.activityStates([dinnerOfDennis])[dinnerOfDennis]
          guard (known?.rev ?? 0) < rev else { return false }
          try rows.save([activityState(rev: rev)])
          try rows.append(event("e\(rev)"))
          return true
        }
      }
    }
    let count = try stored.map { try $0.get().count }.reduce(0, +)
    let newest = try store.read { try $0.activityStates([dinnerOfDennis])[dinnerOfDennis]?.rev }
    #expect(newest == Self.writers * Self.rounds)
    let events = try store.write {
      try $0.leaseEvents(atMost: 1000, now: noon, until: noon + .seconds(1))
    }
    #expect(events.count == count)
    // Who stored a state saw all that were stored before: the order of commits is that of revs.
    let revs = events.compactMap { Int($0.message.id.dropFirst()) }
    #expect(revs == revs.sorted())
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `one of many asks for a start, and one holds it`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let handles = try handles(store)
    for round in 0..<Self.rounds {
      let id = SessionID("cs_\(round)")
      let holders = atOnce(Self.writers) { place -> Bool in
        try handles[place].write { rows in
          try rows.save(
            Start(
              sessionID: id, token: token(1), contextKey: dinnerOfDennis,
              firstAskedAt: noon + .seconds(place)))
          let start = try rows.start(of: id, token: token(1))
          guard start?.claimedUntil == nil else { return false }
          try rows.claimStart(of: id, token: token(1), until: noon + .seconds(60))
          return true
        }
      }
      #expect(try holders.count { try $0.get() } == 1)
      let starts = try store.read { try $0.starts(of: [id]) }
      #expect(starts.map(\.cardsMax) == [1])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a dedupe key and an idempotency key let one through`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let handles = try handles(store)
    for round in 0..<Self.rounds {
      let outcomes = atOnce(Self.writers) { place -> (Bool, Bool) in
        try handles[place].write { rows in
          let isNew = try rows.insert(notification("n\(round)-\(place)", dedupeKey: "k\(round)"))
          let known = try rows.answer(forKey: "k\(round)", of: dennis, route: "POST /")
          guard known == nil else { return (isNew, false) }
          try rows.append(event("e\(round)-\(place)"))
          try rows.save(
            StoredAnswer(
              requestDigest: "\(place)", status: 200, headers: [:], body: Data(), storedAt: noon),
            forKey: "k\(round)", of: dennis, route: "POST /")
          return (isNew, true)
        }
      }
      #expect(try outcomes.count { try $0.get().0 } == 1)
      #expect(try outcomes.count { try $0.get().1 } == 1)
    }
    #expect(try store.read { try $0.outboxDepth().events } == Self.rounds)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a limit of sessions per user holds`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let handles = try handles(store, 2)
    for most in 1...Self.meetings {
      let meeting = Meeting()
      let made = atOnce(2) { place in
        try handles[place].write { rows in
          guard try rows.liveSessionCount(of: dennis) < most else { return false }
          meeting.attend()
          try rows.save(session(SessionID("cs_\(place)_\(most)")))
          return true
        }
      }
      #expect(try made.count { try $0.get() } == 1)
      #expect(try store.read { try $0.liveSessionCount(of: dennis) } == most)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `an alert that arrives while it is resolved is taken back by one of the two`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    let handles = try handles(store, 2)
    for round in 0..<Self.meetings {
      let key = "key\(round)"
      _ = try store.write { try $0.insert(notification("n\(round)", dedupeKey: key)) }
      let meeting = Meeting()
      let seen = atOnce(2) { place -> Bool in
        try handles[place].write { rows in
          if place == 0 {
            // The sender records that the alert was accepted.
            let isResolved = try !rows.resolvedKeys(among: [key]).isEmpty
            meeting.attend()
            try rows.save([delivery(job: "job\(round)")])
            return isResolved
          }
          _ = try rows.resolve(dedupeKey: key, because: "ended", at: noon)
          let isAccepted = try !rows.acceptedJobs(among: ["job\(round)"]).isEmpty
          meeting.attend()
          return isAccepted
        }
      }
      #expect(try seen.count { try $0.get() } == 1)
    }
  }

  /// One builder has the state and looks for tokens, the other has the token and looks for the
  /// state; the token was registered while the first was at work.
  @Test(arguments: StoreUnderTest.allCases)
  func `a token that registers while a state is stored gets it from one of two builders`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    let handles = try handles(store, 2)
    for round in 0..<Self.meetings {
      let context = ContextKey("cooksuggest:cs_\(round):u_dennis")
      let (before, between) = (Meeting(), Meeting())
      let sent = atOnce(2) { place -> Bool in
        if place == 0 {
          return try handles[0].write { rows in
            let tokens = try rows.updateTokens(of: [context])
            before.attend()
            between.attend()
            try rows.save([activityState(context)])
            return !tokens.isEmpty
          }
        }
        before.attend()
        try handles[1].write { rows in
          try rows.register(
            Registration(
              userID: dennis, token: token(UInt8(round)), kind: .update, contextKey: context,
              registeredAt: noon))
        }
        return try handles[1].write { rows in
          let states = try rows.activityStates([context])
          between.attend()
          return try !states.isEmpty && !rows.updateTokens(of: [context]).isEmpty
        }
      }
      #expect(try sent.contains { try $0.get() }, "round \(round)")
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `two that read one session both count`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let handles = try handles(store, 2)
    try store.write { try $0.save(session()) }
    for _ in 0..<Self.meetings {
      let meeting = Meeting()
      let done = atOnce(2) { place in
        try handles[place].write { rows in
          let rev = try rows.session(dinner)?.rev ?? 0
          meeting.attend()
          try rows.save(session(rev: rev + 1))
        }
      }
      for outcome in done { try outcome.get() }
    }
    #expect(try store.read { try $0.session(dinner)?.rev } == 2 * Self.meetings + 1)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `what registered again is not pruned for what it was`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let handles = try handles(store, 2)
    for round in 0..<Self.rounds {
      let registration = Registration(
        userID: dennis, token: try token(UInt8(round)), kind: .alert, registeredAt: noon)
      try store.write { try $0.register(registration) }
      let outcomes = atOnce(2) { place -> Int in
        try handles[place].write { rows in
          guard place == 0 else {
            var again = registration
            again.registeredAt = noon + .seconds(5)
            try rows.register(again)
            return 0
          }
          return try rows.prune(
            registration.token, because: "BadDeviceToken", unlessRegisteredAfter: noon)
        }
      }
      for outcome in outcomes { _ = try outcome.get() }
      let left = try store.read { try $0.tokens(of: [dennis], kind: .alert)[dennis] ?? [] }
      #expect(left.contains { $0.token == registration.token }, "round \(round)")
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `relays that race never turn one key's events round`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let handles = try handles(store)
    let keys = 3
    let events = 60
    try store.write { rows in
      for number in 0..<events {
        try rows.append(event("\(number)", orderKey: "k\(number % keys)"))
      }
    }
    let published = Mutex<[Int]>([])
    let done = atOnce(Self.writers) { place in
      while true {
        let held = try handles[place].write {
          try $0.leaseEvents(atMost: 4, now: noon, until: noon + .seconds(30))
        }
        published.withLock { $0 += held.compactMap { Int($0.message.id) } }
        try handles[place].write { try $0.removeEvents(held.map(\.sequence)) }
        if try handles[place].read({ try $0.outboxDepth().events }) == 0 { return }
      }
    }
    for outcome in done { try outcome.get() }
    let order = published.withLock { $0 }
    #expect(order.sorted() == Array(0..<events))
    for key in 0..<keys {
      let own = order.filter { $0 % keys == key }
      #expect(own == own.sorted())
    }
  }
}
