import Foundation
import Pipeline
import Sessions
import Testing
import Vocabulary

@Suite struct SessionContract {
  @Test(arguments: StoreUnderTest.allCases)
  func `a session comes back as it was saved last`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let first = try session(rev: 1)
    let second = try session(state: .proposed, rev: 2)
    try store.write { try $0.save(first) }
    #expect(try store.read { try $0.session(dinner) } == first)
    try store.write { try $0.save(second) }
    #expect(try store.read { try $0.session(dinner) } == second)
    #expect(try store.read { try $0.session(SessionID("cs_other")) } == nil)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `live sessions are those not ended that the user has not left`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let cases: [(String, SessionState, Participant.Status)] = [
      ("a", .answering, .joined), ("b", .proposed, .invited), ("c", .generating, .left),
      ("d", .decided, .joined), ("e", .cancelled, .joined),
    ]
    try store.write { rows in
      for (id, state, status) in cases {
        try rows.save(session(SessionID(id), state: state, users: [(dennis, status)]))
      }
      #expect(try rows.liveSessionCount(of: dennis) == 2)
      #expect(try rows.liveSessionCount(of: alina) == 0)
      try rows.save(session(SessionID("a"), state: .decided, users: [(dennis, .joined)]))
      try rows.save(session(SessionID("b"), state: .proposed, users: [(alina, .joined)]))
      #expect(try rows.liveSessionCount(of: dennis) == 0)
      #expect(try rows.liveSessionCount(of: alina) == 1)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `expired sessions come longest overdue first, ended ones never`(kind: StoreUnderTest) throws
  {
    let store = try kind.open()
    try store.write { rows in
      try rows.save(session(SessionID("later"), expiresAt: noon))
      try rows.save(session(SessionID("first"), expiresAt: noon - .seconds(9)))
      try rows.save(session(SessionID("over"), state: .decided, expiresAt: noon - .seconds(9)))
      try rows.save(session(SessionID("not yet"), expiresAt: noon + .milliseconds(1)))
      let expired = try rows.expiredSessions(at: noon, limit: 10).map(\.id.text)
      #expect(expired == ["first", "later"])
      #expect(try rows.expiredSessions(at: noon, limit: 1).map(\.id.text) == ["first"])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `sessions in the kitchen come longest unchanged first`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      try rows.save(inKitchen("decision", .finalizing, since: noon - .seconds(1)))
      try rows.save(inKitchen("proposals", .generating, since: noon - .seconds(2)))
      try rows.save(inKitchen("young", .generating, since: noon + .seconds(1)))
      try rows.save(inKitchen("over", .decided, since: noon - .seconds(9)))
      try rows.save(inKitchen("back", .generating, since: noon - .seconds(9)))
      try rows.save(inKitchen("back", .answering, since: noon - .seconds(9)))
      func found(_ moment: UnixTime, limit: Int = 9) throws -> [String] {
        try rows.sessionsInKitchen(unchangedSince: moment, limit: limit).map(\.id.text)
      }
      #expect(try found(noon) == ["proposals", "decision"])
      #expect(try found(noon, limit: 1) == ["proposals"])
      #expect(try found(noon - .seconds(1)) == ["proposals", "decision"])
      #expect(try found(noon - .milliseconds(1001)) == ["proposals"])
      #expect(try found(noon + .seconds(1)) == ["proposals", "decision", "young"])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `the next due are the earliest of those not ended`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      let nothing = try rows.earliestDue()
      #expect(nothing.expiry == nil && nothing.inKitchenSince == nil)
      try rows.save(session(SessionID("later"), expiresAt: noon + .seconds(9)))
      try rows.save(session(SessionID("over"), state: .cancelled, expiresAt: noon))
      #expect(try rows.earliestDue().expiry == noon + .seconds(9))
      #expect(try rows.earliestDue().inKitchenSince == nil)
      try rows.save(inKitchen("a", .generating, since: noon - .seconds(3)))
      try rows.save(inKitchen("b", .finalizing, since: noon - .seconds(4)))
      #expect(try rows.earliestDue().inKitchenSince == noon - .seconds(4))
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a session is replaced only while it is what was seen`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let seen = try session(rev: 3)
    let next = try session(state: .cancelled, rev: 4)
    let others = [
      try session(state: .proposed, rev: 3), try session(rev: 2),
      try session(rev: 3, expiresAt: noon),
    ]
    try store.write { rows in
      #expect(try !rows.replace(seen, with: next))
      #expect(try rows.session(dinner) == nil)
      for other in others {
        try rows.save(other)
        #expect(try !rows.replace(seen, with: next))
        #expect(try rows.session(dinner) == other)
      }
      try rows.save(seen)
      #expect(try rows.replace(seen, with: next))
      #expect(try rows.session(dinner) == next)
      #expect(try rows.liveSessionCount(of: dennis) == 0)
      #expect(try rows.expiredSessions(at: noon + .seconds(9999), limit: 9).isEmpty)
      #expect(try !rows.replace(seen, with: next))
    }
  }

  private func inKitchen(_ id: String, _ state: SessionState, since: UnixTime) throws -> Session {
    try session(SessionID(id), state: state, updatedAt: since, job: "job_1")
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `answers are kept byte for byte per participant`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let spaced = Data("{ \"hunger\" :\t\"groß\" }".utf8)
    try store.write { rows in
      try rows.saveAnswers(Data("{}".utf8), of: dennis, in: dinner)
      try rows.saveAnswers(spaced, of: dennis, in: dinner)
      try rows.saveAnswers(Data("{\"a\":1}".utf8), of: alina, in: dinner)
    }
    let answers = try store.read { try $0.answers(in: dinner) }
    #expect(answers == [dennis: spaced, alina: Data("{\"a\":1}".utf8)])
    #expect(try store.read { try $0.answers(in: SessionID("cs_other")) }.isEmpty)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `profiles are replaced whole, unknown users are left out`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let full = Profile(userID: dennis, name: "", tint: "#ff0000", emoji: "🍳", locale: "de-DE")
    try store.write { try $0.save(full) }
    #expect(try store.read { try $0.profiles(of: [dennis, alina, dennis]) } == [dennis: full])
    try store.write { try $0.save(Profile(userID: dennis, name: "Dennis\u{0}x")) }
    let bare = try store.read { try $0.profiles(of: [dennis]) }
    #expect(bare == [dennis: Profile(userID: dennis, name: "Dennis\u{0}x")])
  }
}
