import Pipeline
import Pushes
import Testing
import Vocabulary

@testable import HTTPAPI

/// A push-to-start token that APNs takes and that starts nothing: nobody but the app can mend it.
@Suite struct SuspectTokenTests {
  private let world: World
  private let mara = UserID("mara")
  private let context = ContextKey("cooksuggest:cs_1:mara")
  private let startToken = String(repeating: "a1", count: 32)

  init() throws {
    world = try World()
    let start = Start(
      sessionID: SessionID("cs_1"), token: try PushToken(hex: startToken), contextKey: context,
      firstAskedAt: world.time.now())
    try world.store.write { rows in
      try rows.save(start)
      try rows.acceptStart(of: start.sessionID, token: start.token, at: world.time.now())
    }
  }

  private func register(_ kind: String = "la-pushToStart", token: String? = nil) throws -> JSONValue
  {
    let body: JSONValue = ["token": .string(token ?? startToken), "kind": .string(kind)]
    return try world.post("/api/apns/register", as: "mara", body).json()
  }

  private let asEver: JSONValue = ["registered": true]
  private let suspicious: JSONValue = ["registered": true, "wants_new_token": true]

  @Test func `E-9 E-10 an app that is not heard of after a start is asked for another token`()
    throws
  {
    world.time.advance(Start.heardOfWithin - .milliseconds(1))
    #expect(try register() == asEver)
    world.time.advance(.milliseconds(1))
    #expect(try register() == suspicious)
    #expect(try register("alert") == asEver)
    // It is a hint: the token is kept, and starts go to it.
    let kept = try world.store.read { try $0.tokens(of: [mara], kind: .pushToStart) }
    #expect(kept[mara]?.count == 1)
    #expect(try register(token: String(repeating: "b2", count: 32)) == asEver)
  }

  @Test func `E-10 an app that reported its card is asked for nothing`() throws {
    try world.store.write {
      try $0.save(
        PhoneReport(
          contextKey: context, userID: mara, state: .active, rev: 1, reportedAt: world.time.now()))
    }
    world.time.advance(Start.heardOfWithin)
    #expect(try register() == asEver)
  }
}
