import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct HistoryContract {
  private func mutation(_ rev: Int, of session: SessionID = dinner, at moment: UnixTime = noon)
    -> MutationRecord
  {
    MutationRecord(
      sessionID: session, rev: rev, mutation: "pick", userID: rev == 1 ? dennis : nil,
      eventID: EventID("e\(rev)"), eventType: "cooksuggest.session.picked", acceptedAt: moment)
  }

  private func build(
    _ rev: Int, _ outcome: BuildRecord.Outcome = .stored, of session: SessionID = dinner,
    at moment: UnixTime = noon
  ) -> BuildRecord {
    BuildRecord(
      sessionID: session, userID: dennis, contextKey: dinnerOfDennis, rev: rev, outcome: outcome,
      updateJobs: 1, startJobs: 2, fcmJobs: 3, reason: rev == 1 ? nil : "because", builtAt: moment)
  }

  private func report(
    _ context: ContextKey = dinnerOfDennis, rev: Int?, at moment: UnixTime = noon,
    _ state: PhoneReport.State = .active
  ) -> PhoneReport {
    PhoneReport(contextKey: context, userID: dennis, state: state, rev: rev, reportedAt: moment)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `mutations come back by rev, and the first record of a rev stays`(kind: StoreUnderTest)
    throws
  {
    let store = try kind.open()
    try store.write { rows in
      try rows.save(mutation(2))
      try rows.save(mutation(1))
      try rows.save(mutation(1, of: SessionID("cs_other")))
      try rows.save(mutation(2, at: noon + .seconds(9)))
    }
    #expect(try store.read { try $0.mutations(of: dinner) } == [mutation(1), mutation(2)])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `builds come back oldest first, with every outcome`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let all = BuildRecord.Outcome.allCases.enumerated().map { build($0 + 1, $1) }
    let old = build(9, at: noon - .seconds(1))
    try store.write { rows in
      try rows.save(all + [build(1, of: SessionID("cs_other"))])
      try rows.save([old])
    }
    #expect(try store.read { try $0.builds(of: dinner) } == [old] + all)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `of each phone's reports the newest are kept, whatever it says`(kind: StoreUnderTest) throws
  {
    let store = try kind.open()
    let max = PhoneReport.keptMax
    try store.write { rows in
      try rows.save(report(rev: nil, .dismissed))
      for rev in 1...max { try rows.save(report(rev: rev)) }
      try rows.save(report(dinnerOfAlina, rev: 7, at: noon - .seconds(1)))
      let kept = try rows.reports(of: [dinnerOfDennis])
      #expect(kept == (1...max).map { report(rev: $0) })
      let both = try rows.reports(of: [dinnerOfDennis, dinnerOfAlina, dinnerOfDennis])
      #expect(both == [report(dinnerOfAlina, rev: 7, at: noon - .seconds(1))] + kept)
      #expect(try rows.reports(of: [ContextKey("none")]).isEmpty)
      #expect(try rows.dismissed(among: [dinnerOfDennis]) == [dinnerOfDennis])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `an event is unpublished until it leaves the outbox`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      try rows.append(event("e1"))
      try rows.append(event("e2"))
      let all = ["e1", "e2", "e3"].map { EventID($0) }
      #expect(try rows.unpublished(among: all) == [EventID("e1"), EventID("e2")])
      let leased = try rows.leaseEvents(atMost: 1, now: noon, until: noon + .seconds(9))
      try rows.removeEvents(leased.map(\.sequence))
      #expect(try rows.unpublished(among: all) == [EventID("e2")])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `what is older than the moment is removed, at most the limit of each`(kind: StoreUnderTest)
    throws
  {
    let store = try kind.open()
    let before = noon - .milliseconds(1)
    try store.write { rows in
      for rev in 1...3 {
        try rows.save(mutation(rev, at: before))
        try rows.save([build(rev, at: before)])
        try rows.save(report(rev: rev, at: before))
      }
      try rows.save(mutation(4))
      try rows.save([build(4)])
      try rows.save(report(rev: 4))
      #expect(try rows.removeHistory(before: noon, limit: 2) == 6)
      #expect(try rows.removeHistory(before: noon, limit: 2) == 3)
      #expect(try rows.removeHistory(before: noon, limit: 2) == 0)
      #expect(try rows.mutations(of: dinner) == [mutation(4)])
      #expect(try rows.builds(of: dinner) == [build(4)])
      #expect(try rows.reports(of: [dinnerOfDennis]) == [report(rev: 4)])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `what was never sent is not unanswered`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let dropped = DeliveryRecord(
      jobID: "j1", sessionID: dinner, userID: dennis, contextKey: nil, rev: 3,
      tokenFingerprint: "01234567", event: "alert", status: nil, reason: "superseded: x",
      attempt: 2, causedAt: noon, settledAt: noon, wasSent: false, consequence: .superseded)
    try store.write { rows in
      try rows.save([dropped, delivery(job: "j2", status: nil)])
      #expect(try rows.unansweredJobs(among: ["j1", "j2"]) == ["j2"])
      #expect(try rows.deliveries(of: dinner).first == dropped)
    }
  }

  // MARK: The registry, row by row

  @Test(arguments: StoreUnderTest.allCases)
  func `rows of the registry are listed page by page, pruned ones too`(kind: StoreUnderTest) throws
  {
    let store = try kind.open()
    try store.write { rows in
      for number in UInt8(1)...5 {
        try rows.register(
          Registration(
            userID: number < 4 ? dennis : alina, token: token(number),
            kind: number == 1 ? .alert : .update, contextKey: number == 1 ? nil : dinnerOfDennis,
            registeredAt: noon))
      }
      _ = try rows.raiseDeliveredRev(to: 7, token: token(2))
      for (number, reason, seconds) in [(UInt8(2), "a", Int64(1)), (3, "b", 2), (4, "a", 3)] {
        _ = try rows.prune(
          token(number), because: reason, unlessRegisteredAfter: noon + .seconds(seconds))
      }
    }
    try store.read { rows in
      func numbers(_ query: TokenQuery) throws -> [PushToken] {
        try rows.tokenRows(query).map(\.registration.token)
      }
      func tokens(_ numbers: UInt8...) throws -> [PushToken] { try numbers.map { try token($0) } }
      #expect(try numbers(TokenQuery()) == tokens(1, 2, 3, 4, 5))
      #expect(try numbers(TokenQuery(user: dennis)) == tokens(1, 2, 3))
      #expect(try numbers(TokenQuery(user: dennis, kind: .alert)) == tokens(1))
      #expect(try numbers(TokenQuery(isPruned: true)) == tokens(2, 3, 4))
      #expect(try numbers(TokenQuery(isPruned: false)) == tokens(1, 5))
      #expect(try numbers(TokenQuery(prunedBecause: "a")) == tokens(2, 4))
      #expect(try numbers(TokenQuery(prunedSince: noon + .seconds(2))) == tokens(3, 4))
      #expect(
        try numbers(TokenQuery(prunedBecause: "a", prunedSince: noon + .seconds(2))) == tokens(4))
      let row = try rows.tokenRows(TokenQuery()).first { $0.prunedBecause == "a" }
      #expect(row?.deliveredRev == 7)
      #expect(row?.prunedAt == noon + .seconds(1))
      var place: Int64 = 0
      var found: [PushToken] = []
      while case let page = try rows.tokenRows(TokenQuery(), after: place, limit: 2),
        let last = page.last
      {
        #expect(page.count <= 2)
        found += page.map(\.row.registration.token)
        place = last.place
      }
      #expect(try found == tokens(1, 2, 3, 4, 5))
    }
  }
}
