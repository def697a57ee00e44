import Activities
import Foundation
import Pipeline
import Pushes
import Testing
import Vocabulary

private func activity(
  _ key: String = "order-1", users: [UserID] = [dennis, alina],
  expiresAt: UnixTime = noon + .seconds(3600)
) -> Activity {
  Activity.start(
    ActivityKey(key), attributesType: "Attributes", attributes: ["values": ["id": "A-1"]],
    ActivityContent(
      states: users.map { ($0, ["title": "Pad Thai 🍜", "share": .number(0.25)]) },
      alert: Activity.Alert(title: "Ünal", body: "\"x\""), staleAt: noon + .seconds(60),
      relevanceScore: 0.5, deepLink: "/orders/1", expiresAt: expiresAt), at: noon
  ).activity
}

@Suite struct DrivenActivityContract {
  @Test(arguments: StoreUnderTest.allCases)
  func `an activity is kept whole`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { try $0.save(activity()) }
    #expect(try store.read { try $0.activity(ActivityKey("order-1")) } == activity())
    #expect(try store.read { try $0.activity(ActivityKey("order-2")) } == nil)
    #expect(try store.secondHandle().read { try $0.activity(ActivityKey("order-1")) } == activity())
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a channel is found when it is due, and a lost look sets nothing`(kind: StoreUnderTest)
    throws
  {
    let store = try kind.open()
    func wish(_ key: String, at moment: UnixTime) -> Activity {
      Activity.start(
        ActivityKey(key), attributesType: "Attributes", attributes: [:],
        ActivityContent(states: [(dennis, ["title": "x"])]),
        channel: ActivityChannel(id: nil, at: moment), at: noon
      ).activity
    }
    let later = wish("later", at: noon + .seconds(5))
    try store.write { rows in
      try rows.save(later)
      try rows.save(wish("first", at: noon))
      try rows.save(activity("without"))
    }
    func due(_ moment: UnixTime, limit: Int = 10) throws -> [String] {
      try store.read { try $0.activitiesWithChannelDue(at: moment, limit: limit) }.map(\.key.text)
    }
    #expect(try due(noon) == ["first"])
    #expect(try due(noon + .seconds(5)) == ["first", "later"])
    #expect(try due(noon + .seconds(5), limit: 1) == ["first"])
    let ready = later.withChannel(
      id: "aWQ=", storage: .none, of: "app.example.cook", at: noon + .seconds(6))
    try store.write { try $0.save(ready) }
    #expect(try due(noon + .seconds(9)) == ["first"])
    // Who looked before would write the channel away.
    let ended = try #require(later.ended(.ttl, at: noon + .seconds(9))).activity
    #expect(try !store.write { try $0.replace(later, with: ended) })
    let next = try #require(ready.ended(.ttl, at: noon + .seconds(9))).activity
    #expect(try store.write { try $0.replace(ready, with: next) })
    #expect(try due(noon + .seconds(9)) == ["first", "later"])
    #expect(try store.read { try $0.activity(ActivityKey("later")) } == next)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a user finds its own, the newest first`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      try rows.save(activity("a"))
      try rows.save(activity("b", users: [alina]))
      try rows.save(activity("c"))
      let later = activity("a").ended(.ended, at: noon + .seconds(5))
      try rows.save(#require(later).activity)
    }
    func keys(_ user: UserID, _ limit: Int = 10) throws -> [String] {
      try store.read { try $0.activities(of: user, limit: limit) }.map(\.key.text)
    }
    #expect(try keys(dennis) == ["a", "c"])
    #expect(try keys(alina) == ["a", "b", "c"])
    #expect(try keys(alina, 1) == ["a"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `what is overdue is found until it has ended`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let soon = activity("soon", expiresAt: noon + .seconds(10))
    try store.write { rows in
      try rows.save(activity("late"))
      try rows.save(soon)
    }
    func due(_ moment: UnixTime, limit: Int = 10) throws -> [String] {
      try store.read { try $0.expiredActivities(at: moment, limit: limit) }.map(\.key.text)
    }
    #expect(try due(noon + .seconds(9)) == [])
    #expect(try due(noon + .seconds(10)) == ["soon"])
    #expect(try due(noon + .seconds(3600)) == ["soon", "late"])
    #expect(try due(noon + .seconds(3600), limit: 1) == ["soon"])
    #expect(try store.read { try $0.earliestActivityExpiry() } == noon + .seconds(10))
    let ended = try #require(soon.ended(.ttl, at: noon + .seconds(11))).activity
    #expect(try store.write { try $0.replace(soon, with: ended) })
    // Somebody else was faster.
    #expect(try !store.write { try $0.replace(soon, with: ended) })
    #expect(try due(noon + .seconds(3600)) == ["late"])
    #expect(try store.read { try $0.earliestActivityExpiry() } == noon + .seconds(3600))
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `starts are found by the device that they may have reached`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    func start(_ session: String, _ byte: UInt8, device: String?, after seconds: Int) throws
      -> Start
    {
      Start(
        sessionID: SessionID(session), token: try token(byte), contextKey: ContextKey(session),
        firstAskedAt: noon + .seconds(seconds), userID: dennis, deviceID: device)
    }
    let starts = try [
      start("s2", 2, device: "d", after: 2), start("s1", 1, device: "d", after: 1),
      start("s3", 3, device: "other", after: 1), start("s4", 4, device: "d", after: 1),
      start("s5", 5, device: nil, after: 1),
    ]
    try store.write { rows in
      for start in starts {
        try rows.save(start)
        try rows.claimStart(of: start.sessionID, token: start.token, until: noon)
        try rows.claimStart(of: start.sessionID, token: start.token, until: nil)
      }
      // APNs refused this one, and of another the answer was lost once.
      try rows.uncountCard(of: SessionID("s4"), token: token(4))
      try rows.claimStart(of: SessionID("s1"), token: token(1), until: noon)
    }
    func sent(_ device: String?, since: Int = 0) throws -> [Start] {
      try store.read {
        try $0.startsSent(to: dennis, on: device, since: noon + .seconds(since))
      }
    }
    #expect(try sent("d").map(\.sessionID.text) == ["s1", "s2"])
    #expect(try sent("d").map(\.cardsMax) == [2, 1])
    #expect(try sent("d", since: 2).map(\.sessionID.text) == ["s2"])
    #expect(try sent(nil).map(\.sessionID.text) == ["s5"])
    #expect(try store.read { try $0.starts(of: [SessionID("s4")]) }.map(\.cardsMax) == [0])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a state keeps what it carries besides`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let plain = activityState()
    let state = ActivityState(
      contextKey: dinnerOfAlina, sessionID: dinner, userID: alina, rev: 2, event: .update,
      contentState: plain.contentState, attributesType: "Attributes", attributes: nil,
      alertTitle: nil, alertBody: nil, staleAt: nil, dismissAt: nil, deadline: noon,
      causedAt: noon, traceparent: nil,
      extras: .init(relevanceScore: 0.5, beside: ["deeplink": "/x"], alertsOnUpdate: true))
    try store.write { try $0.save([plain, state]) }
    let found = try store.read { try $0.activityStates([dinnerOfDennis, dinnerOfAlina]) }
    #expect(found == [dinnerOfDennis: plain, dinnerOfAlina: state])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `unbound update tokens are listed`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    func registration(_ byte: UInt8, _ kind: TokenKind, _ context: ContextKey?) throws
      -> Registration
    {
      Registration(
        userID: dennis, token: try token(byte), kind: kind, contextKey: context,
        registeredAt: noon)
    }
    try store.write { rows in
      try rows.register(registration(1, .update, nil))
      try rows.register(registration(2, .update, dinnerOfDennis))
      try rows.register(registration(3, .pushToStart, nil))
    }
    for user in [dennis, nil] {
      let found = try store.read { try $0.tokenRows(TokenQuery(user: user, isUnbound: true)) }
      #expect(try found.map(\.registration.token) == [token(1)])
    }
  }
}
