import Pipeline
import Pushes
import Testing
import Vocabulary

@Suite struct ActivityContract {
  @Test(arguments: StoreUnderTest.allCases)
  func `an activity state comes back as it was saved last`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let newer = activityState(rev: 2, event: .end)
    try store.write { rows in
      try rows.save([activityState(rev: 1), activityState(dinnerOfAlina, user: alina)])
      try rows.save([newer])
    }
    let found = try store.read { try $0.activityStates([dinnerOfDennis, ContextKey("none")]) }
    #expect(found == [dinnerOfDennis: newer])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `live states are the user's own that have not ended`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let second = activityState(ContextKey("b"), causedAt: noon + .seconds(1))
    let first = activityState(ContextKey("c"), causedAt: noon)
    try store.write { rows in
      try rows.save([
        second, first, activityState(ContextKey("d"), event: .end),
        activityState(dinnerOfAlina, user: alina),
      ])
      #expect(try rows.liveActivityStates(of: dennis) == [first, second])
      try rows.save([activityState(ContextKey("c"), rev: 2, event: .end)])
      #expect(try rows.liveActivityStates(of: dennis) == [second])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `dismissed stays dismissed`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    func report(_ context: ContextKey, _ state: PhoneReport.State) -> PhoneReport {
      PhoneReport(contextKey: context, userID: dennis, state: state, rev: 1, reportedAt: noon)
    }
    try store.write { rows in
      try rows.save(report(dinnerOfDennis, .active))
      try rows.save(report(dinnerOfAlina, .ended))
      let both = [dinnerOfDennis, dinnerOfAlina, ContextKey("none")]
      #expect(try rows.dismissed(among: both).isEmpty)
      try rows.save(report(dinnerOfDennis, .dismissed))
      try rows.save(report(dinnerOfDennis, .active))
      #expect(try rows.dismissed(among: both) == [dinnerOfDennis])
      #expect(try rows.dismissed(among: [dinnerOfAlina]).isEmpty)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a card that is gone was not dismissed`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    func report(_ state: PhoneReport.State) -> PhoneReport {
      PhoneReport(
        contextKey: dinnerOfDennis, userID: dennis, state: state, rev: nil, reportedAt: noon)
    }
    try store.write { rows in
      for state in [PhoneReport.State.active, .gone, .active, .ended, .gone] {
        try rows.save(report(state))
        #expect(try rows.dismissed(among: [dinnerOfDennis]).isEmpty)
      }
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a start is asked for once per session and token`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let first = Start(
      sessionID: dinner, token: try token(1), contextKey: dinnerOfAlina, firstAskedAt: noon)
    let again = Start(
      sessionID: dinner, token: try token(1), contextKey: dinnerOfAlina,
      firstAskedAt: noon + .seconds(9))
    let other = Start(
      sessionID: dinner, token: try token(2), contextKey: dinnerOfAlina,
      firstAskedAt: noon - .seconds(1))
    try store.write { rows in
      try rows.save(first)
      try rows.save(again)
      try rows.save(other)
      #expect(try rows.start(of: dinner, token: token(1)) == first)
      #expect(try rows.starts(of: [dinner, SessionID("none"), dinner]) == [other, first])
      #expect(try rows.start(of: SessionID("none"), token: token(1)) == nil)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a start is claimed, given free and accepted, the first time counts`(kind: StoreUnderTest)
    throws
  {
    let store = try kind.open()
    let one = try token(1)
    try store.write { rows in
      try rows.save(
        Start(sessionID: dinner, token: one, contextKey: dinnerOfAlina, firstAskedAt: noon))
      try rows.claimStart(of: dinner, token: one, until: noon + .seconds(30))
      #expect(try rows.start(of: dinner, token: one)?.claimedUntil == noon + .seconds(30))
      try rows.claimStart(of: dinner, token: one, until: nil)
      #expect(try rows.start(of: dinner, token: one)?.claimedUntil == nil)
      try rows.acceptStart(of: dinner, token: one, at: noon)
      try rows.acceptStart(of: dinner, token: one, at: noon + .seconds(5))
      #expect(try rows.start(of: dinner, token: one)?.acceptedAt == noon)
      try rows.claimStart(of: dinner, token: token(2), until: noon)
      #expect(try rows.start(of: dinner, token: token(2)) == nil)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `delivery records come oldest first and are removed by age`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let old = delivery(job: "j1", status: nil, settledAt: noon - .seconds(9))
    let tie = [delivery(job: "j2", status: 400), delivery(job: "j1")]
    try store.write { rows in
      try rows.save(tie)
      try rows.save([old, delivery(job: "j9", of: SessionID("cs_other"))])
      #expect(try rows.deliveries(of: dinner) == [old] + tie)
      #expect(try rows.acceptedJobs(among: ["j1", "j2", "j3"]) == ["j1"])
      #expect(try rows.removeDeliveries(settledBefore: noon, limit: 10) == 1)
      #expect(try rows.deliveries(of: dinner) == tie)
      #expect(try rows.removeDeliveries(settledBefore: noon + .milliseconds(1), limit: 2) == 2)
      #expect(try rows.removeDeliveries(settledBefore: noon + .milliseconds(1), limit: 2) == 1)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `jobs are found by what became of an attempt`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      try rows.save([
        delivery(job: "j1"), delivery(job: "j2", status: nil), delivery(job: "j2", status: 503),
        delivery(job: "j3", status: nil), delivery(job: "j3"), delivery(job: "j4", status: 410),
      ])
      let ofCards = ["start", "update", "end"]
      try rows.save(ofCards.map { delivery(job: $0, event: $0) })
      let all = ["j1", "j2", "j3", "j4", "j5"]
      #expect(try rows.acceptedJobs(among: all + ofCards) == ["j1", "j3"])
      #expect(try rows.unansweredJobs(among: all) == ["j2", "j3"])
      #expect(try rows.unansweredJobs(among: ["j1", "j3"]) == ["j3"])
    }
  }
}
