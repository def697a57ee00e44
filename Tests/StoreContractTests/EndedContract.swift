import Activities
import Foundation
import Pipeline
import Pushes
import Sessions
import Testing
import Vocabulary

@Suite struct EndedContract {
  private let border = noon + .seconds(3600)

  /// A session with everything that hangs on it; `expiresAt` in its place.
  private func save(
    _ id: SessionID, _ state: SessionState, expiresAt: UnixTime, in rows: any StoreTransaction
  ) throws {
    try rows.save(session(id, state: state, expiresAt: expiresAt))
    try rows.save([context(id)].map { self.state(of: id, $0) })
    try rows.save(
      PhoneReport(
        contextKey: context(id), userID: dennis, state: .dismissed, rev: 1, reportedAt: noon))
    try rows.save(
      Start(sessionID: id, token: token(1), contextKey: context(id), firstAskedAt: noon))
  }

  private func context(_ id: SessionID) -> ContextKey {
    ContextKey("cooksuggest:\(id.text):\(dennis.text)")
  }

  private func state(of id: SessionID, _ context: ContextKey) -> ActivityState {
    ActivityState(
      contextKey: context, sessionID: id, userID: dennis, rev: 1, event: .end,
      contentState: Data("{}".utf8), attributesType: "Attributes", attributes: nil,
      alertTitle: nil, alertBody: nil, staleAt: nil, dismissAt: nil, deadline: noon,
      causedAt: noon, traceparent: nil)
  }

  private func isLeft(_ id: SessionID, in rows: any StoreTransaction) throws -> [Bool] {
    let context = context(id)
    return [
      try rows.session(id) != nil,
      try rows.activityStates([context])[context] != nil,
      try rows.dismissed(among: [context]).contains(context),
      try rows.start(of: id, token: token(1)) != nil,
    ]
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a session that is over goes with all that hangs on it, and no other does`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    let (old, young, live) = (SessionID("cs_old"), SessionID("cs_young"), SessionID("cs_live"))
    try store.write { rows in
      try save(old, .decided, expiresAt: border - .milliseconds(1), in: rows)
      try save(young, .cancelled, expiresAt: border, in: rows)
      try save(live, .answering, expiresAt: noon, in: rows)
    }
    #expect(try store.write { try $0.removeEnded(expiredBefore: border, limit: 10) } == 1)
    let left = try store.read { rows in try [old, young, live].map { try isLeft($0, in: rows) } }
    #expect(left[0] == [false, false, false, false])
    #expect(left[1] == [true, true, true, true])
    #expect(left[2] == [true, true, true, true])
    #expect(try store.write { try $0.removeEnded(expiredBefore: border, limit: 10) } == 0)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `at most as many go as asked, the oldest first`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let ids = (1...3).map { SessionID("cs_\($0)") }
    try store.write { rows in
      for (place, id) in ids.enumerated() {
        try save(id, .decided, expiresAt: noon + .seconds(place), in: rows)
      }
      #expect(try rows.removeEnded(expiredBefore: border, limit: 2) == 2)
      let left = try ids.filter { try rows.session($0) != nil }
      #expect(left == [ids[2]])
      #expect(try rows.removeEnded(expiredBefore: border, limit: 2) == 1)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `an activity that is over goes, and its key is free again`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    func activity(_ key: String) -> Activity {
      Activity.start(
        ActivityKey(key), attributesType: "Attributes", attributes: [:],
        ActivityContent(states: [(dennis, [:])], expiresAt: noon), at: noon
      ).activity
    }
    try store.write { rows in
      try rows.save(#require(activity("over").ended(.ended, at: noon)).activity)
      try rows.save(activity("live"))
      let id = Activity.sessionID(of: ActivityKey("over"))
      try rows.save([state(of: id, context(id))])
      #expect(try rows.removeEnded(expiredBefore: border, limit: 10) == 1)
      #expect(try rows.activity(ActivityKey("over")) == nil)
      #expect(try rows.activityStates([context(id)]).isEmpty)
      #expect(try rows.activity(ActivityKey("live")) != nil)
      #expect(try rows.activities(of: dennis, limit: 10).map(\.key.text) == ["live"])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `notifications of before the moment go, at most as many as asked`(kind: StoreUnderTest)
    throws
  {
    let store = try kind.open()
    try store.write { rows in
      for age in [3, 2, 1, 0] {
        _ = try rows.insert(notification("n\(age)", createdAt: border - .milliseconds(Int64(age))))
      }
      #expect(try rows.removeNotifications(createdBefore: border, limit: 2) == 2)
      #expect(try rows.notification("n1", of: dennis) != nil)
      #expect(try rows.removeNotifications(createdBefore: border, limit: 2) == 1)
      #expect(try rows.removeNotifications(createdBefore: border, limit: 2) == 0)
      #expect(try rows.notification("n0", of: dennis) != nil)
    }
  }
}
