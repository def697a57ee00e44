import Pipeline
import Sessions
import Testing
import Vocabulary

/// The checker finds what it is there for: each kind of trouble is planted once.
@Suite struct LedgerCheckTests {
  private static let moment = UnixTime(seconds: 1_800_000_000)

  private func call(_ mutation: String, _ outcome: PlayedCall.Outcome, by user: String = "host")
    -> PlayedCall
  {
    PlayedCall(session: "cs_1", user: user, mutation: mutation, outcome: outcome)
  }

  private func made(_ rev: Int, _ mutation: String, by user: String = "host") -> MutationRecord {
    MutationRecord(
      sessionID: SessionID("cs_1"), rev: rev, mutation: mutation, userID: UserID(user),
      eventID: EventID("event-\(rev)"), eventType: "cooksuggest.session.picked",
      acceptedAt: Self.moment)
  }

  private func built(_ rev: Int, _ outcome: BuildRecord.Outcome = .stored) -> BuildRecord {
    BuildRecord(
      sessionID: SessionID("cs_1"), userID: UserID("host"), contextKey: ContextKey("cs_1:host"),
      rev: rev, outcome: outcome, updateJobs: 1, builtAt: Self.moment)
  }

  private func push(
    _ number: Int, rev: Int, event: String = "update", id: String? = nil, stamp: Int64 = 100,
    isTaken: Bool = true
  ) -> ReceivedPush {
    ReceivedPush(
      number: number, at: Self.moment, phone: "host", token: "ab", session: "cs_1",
      type: "liveactivity", event: event, rev: rev, stamp: stamp, id: id ?? "id-\(rev)",
      collapseID: nil, isTaken: isTaken)
  }

  private func check(
    _ calls: [PlayedCall], _ mutations: [MutationRecord], builds: [BuildRecord]? = nil,
    _ pushes: [ReceivedPush] = []
  ) -> LedgerCheck {
    let trace = LedgerCheck.Trace(
      id: "cs_1", mutations: mutations, builds: builds ?? mutations.map { built($0.rev) },
      deliveries: [])
    return LedgerCheck(calls: calls, traces: [trace], pushes: pushes)
  }

  private var opened: PlayedCall { call("create", .accepted(rev: 1, after: 0)) }

  @Test func `A quiet story has no finding, and each mutation one end`() {
    let found = check(
      [opened, call("pick", .accepted(rev: 2, after: 1)), call("pick", .refused(status: 409))],
      [made(1, "create"), made(2, "pick"), made(3, "expire")],
      [push(1, rev: 1), push(2, rev: 3)])
    #expect(found.findings.isEmpty)
    #expect(found.ends == [.delivered: 2, .superseded: 1])
    #expect([found.accepted, found.refused, found.unknown] == [2, 1, 0])
  }

  @Test func `What was accepted and is not there is lost`() {
    let gone = check([opened, call("pick", .accepted(rev: 2, after: 1))], [made(1, "create")])
    #expect(gone.lost >= 1)
    let other = check(
      [opened, call("pick", .accepted(rev: 2, after: 1)), call("pick", .unknown, by: "guest")],
      [made(1, "create"), made(2, "confirm")], [push(1, rev: 2)])
    #expect(other.lost == 1 && other.unexpected == 1)
    let nothing = LedgerCheck(calls: [opened], traces: [], pushes: [])
    #expect(nothing.lost == 1)
  }

  @Test func `An event that no builder met is lost, one without a card is untold`() {
    let story = [made(1, "create")]
    #expect(check([opened], story, builds: []).lost == 1)
    let untold = BuildRecord(
      sessionID: SessionID("cs_1"), userID: UserID("host"), contextKey: ContextKey("cs_1:host"),
      rev: 1, outcome: .stored, builtAt: Self.moment)
    #expect(check([opened], story, builds: [untold]).ends == [.untold: 1])
    #expect(check([opened], story, builds: [built(1, .expired)]).ends == [.expired: 1])
    #expect(check([opened], story, builds: [built(1, .dead)]).ends == [.dead: 1])
    #expect(check([opened], story).lost == 1, "a job was made and nothing came of it")
  }

  @Test func `An unanswered call that happened is recovered, once`() {
    let story = [made(1, "create"), made(2, "pick"), made(3, "pick")]
    let pushes = [push(1, rev: 3)]
    let once = check([opened, call("pick", .unknown)], story, pushes)
    #expect([once.recovered, once.unexpected] == [1, 1])
    let twice = check([opened, call("pick", .unknown), call("pick", .unknown)], story, pushes)
    #expect([twice.recovered, twice.unexpected] == [2, 0])
    // The second was told what the first had done a moment before.
    let late = check(
      [opened, call("pick", .unknown), call("confirm", .accepted(rev: 2, after: 1))],
      [made(1, "create"), made(2, "pick")], [push(1, rev: 2)])
    #expect([late.recovered, late.lost] == [1, 0])
    var opening = [call("create", .unknown)]
    opening = opening.map {
      PlayedCall(session: "", user: $0.user, mutation: "create", outcome: .unknown)
    }
    #expect(check(opening, [made(1, "create")], [push(1, rev: 1)]).recovered == 1)
  }

  @Test func `One effect under two ids is doubled, under one id repeated`() {
    let story = [made(1, "create")]
    let doubled = check([opened], story, [push(1, rev: 1, id: "a"), push(2, rev: 1, id: "b")])
    #expect([doubled.doubled, doubled.repeated] == [1, 0])
    let repeated = check([opened], story, [push(1, rev: 1), push(2, rev: 1)])
    #expect([repeated.doubled, repeated.repeated] == [0, 1])
    let starts = check(
      [opened], story, [push(1, rev: 1, event: "start"), push(2, rev: 2, event: "start")])
    #expect(starts.doubledStarts == 1)
  }

  @Test func `What APNs did not take came to no phone, whatever it answered`() {
    let refused = check([opened], [made(1, "create")], [push(1, rev: 1, isTaken: false)])
    #expect(refused.lost == 1)
    let starts = check(
      [opened], [made(1, "create")],
      [push(1, rev: 1, event: "start", isTaken: false), push(2, rev: 1, event: "start")])
    #expect(starts.doubledStarts == 0)
    #expect(starts.findings.isEmpty)
  }

  @Test func `An older state after a newer one is out of order when a phone would take it`() {
    let story = [made(1, "create"), made(2, "pick")]
    let calls = [opened, call("pick", .accepted(rev: 2, after: 1))]
    func order(_ stamp: Int64) -> [Int] {
      let found = check(
        calls, story, [push(1, rev: 2, stamp: 100), push(2, rev: 1, stamp: stamp)])
      return [found.outOfOrder, found.turnedRound, found.overtaken]
    }
    #expect(order(101) == [1, 0, 0])
    #expect(order(100) == [0, 1, 0])
    #expect(order(99) == [0, 0, 1])
  }
}
