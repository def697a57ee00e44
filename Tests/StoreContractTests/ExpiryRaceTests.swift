import Foundation
import Pipeline
import ServiceRuntime
import Sessions
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// Two notifiers sweep one store at once, each with its own hold on it.
@Suite struct ExpiryRaceTests {
  private static let sessions = 1000
  private static let limits = SessionLimits(ttl: .seconds(3600))

  private func ids(_ prefix: String) -> [SessionID] {
    (0..<Self.sessions).map { SessionID("\(prefix)\($0)") }
  }

  /// Sessions in every state that can expire, all due at `noon`.
  private func fill(_ store: any Store, _ ids: [SessionID]) throws {
    let states: [SessionState] = [.answering, .generating, .proposed, .finalizing]
    try store.write { rows in
      for (place, id) in ids.enumerated() {
        let state = states[place % states.count]
        let job = state == .generating || state == .finalizing ? "job_\(place)" : nil
        try rows.save(session(id, state: state, expiresAt: noon, job: job))
      }
    }
  }

  private func sweep(_ store: any Store, _ time: ManualTime) -> ExpirySweep {
    ExpirySweep(
      store: store, limits: Self.limits, time: time, log: .discarding, metrics: Metrics())
  }

  /// Turns until nothing is due.
  ///
  /// - Returns: how many sessions it ended.
  private func sweepAll(_ store: any Store, _ time: ManualTime) throws -> Int {
    let sweep = sweep(store, time)
    var ended = 0
    while true {
      let turn = try sweep.turn()
      ended += turn.expired
      if turn.due == 0 { return ended }
    }
  }

  /// What the outbox says was done to each session, in order.
  private func mutations(_ store: any Store) throws -> [String: [String]] {
    let events = try store.write {
      try $0.leaseEvents(atMost: 100_000, now: noon, until: noon + .seconds(1))
    }
    return try events.reduce(into: [:]) { done, event in
      let json = try JSONValue(parsing: event.message.body)
      guard case .string(let id)? = json["subject"],
        case .string(let name)? = json["data"]?["cause"]?["mutation"]
      else { throw StoreError("not an event of a session") }
      done[id, default: []].append(name)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `one millisecond before the deadline nothing ends, one after it each ends once`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    let handles = [try store.secondHandle(), try store.secondHandle()]
    let time = ManualTime(noon - .milliseconds(1))
    try fill(store, ids("cs_"))
    let before = atOnce(2) { try sweepAll(handles[$0], time) }
    #expect(try before.map { try $0.get() } == [0, 0])
    #expect(try mutations(store).isEmpty)

    time.advance(by: .milliseconds(2))
    let after = atOnce(2) { try sweepAll(handles[$0], time) }
    #expect(try after.map { try $0.get() }.reduce(0, +) == Self.sessions)
    let mutations = try mutations(store)
    #expect(mutations.count == Self.sessions)
    #expect(mutations.values.allSatisfy { $0 == ["expire"] })
    try store.read { rows in
      for id in ids("cs_") {
        let session = try rows.session(id)
        #expect(session?.endReason == .ttl && session?.rev == 2 && session?.job == nil)
      }
    }
  }

  /// The API at the same moment, as a third writer: what comes first wins, and the other sees it.
  @Test(arguments: StoreUnderTest.allCases)
  func `a session that goes on or ends before the sweep comes is not ended by it`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    let handles = try (0..<3).map { _ in try store.secondHandle() }
    let time = ManualTime(noon + .milliseconds(1))
    let ids = ids("cs_")
    try fill(store, ids)
    let users = Mutex((mutated: Set<SessionID>(), refused: Set<SessionID>()))
    let ended = atOnce(3) { number -> Int in
      guard number == 2 else { return try sweepAll(handles[number], time) }
      // From the end, so that both meet in the middle.
      for (place, id) in ids.enumerated().reversed() {
        let mutation: Mutation = place.isMultiple(of: 2) ? .cancel : .join
        let isDone = try mutate(id, mutation, in: handles[2], time)
        users.withLock { users in
          _ = isDone ? users.mutated.insert(id) : users.refused.insert(id)
        }
      }
      return 0
    }
    let swept = try ended.map { try $0.get() }.reduce(0, +)
    let (mutated, refused) = users.withLock { $0 }
    #expect(mutated.count + refused.count == ids.count)
    #expect(swept == refused.count)
    let mutations = try mutations(store)
    for (place, id) in ids.enumerated() {
      let own = place.isMultiple(of: 2) ? "cancel" : "join"
      #expect(mutations[id.text] == [mutated.contains(id) ? own : "expire"])
      let session = try store.read { try $0.session(id) }
      #expect(session?.rev == 2)
      let reason: EndReason? = mutated.contains(id) ? (own == "cancel" ? .cancelled : nil) : .ttl
      #expect(session?.endReason == reason)
    }
  }

  /// What the API does for one request.
  ///
  /// - Returns: false when the session had ended.
  private func mutate(
    _ id: SessionID, _ mutation: Mutation, in store: any Store, _ time: ManualTime
  ) throws -> Bool {
    try store.write { rows in
      guard let session = try rows.session(id) else { throw StoreError("no session \(id)") }
      do {
        guard
          let change = try session.apply(
            mutation, by: alina, at: time.now(), newJobID: JobID("new"), limits: Self.limits)
        else { throw StoreError("nothing changed") }
        try rows.save(change.session)
        try rows.append(
          Event.outboxEntry(
            for: change, id: EventID("\(id)-\(mutation.name)"), at: time.now(), traceparent: nil))
        return true
      } catch is Refusal {
        return false
      }
    }
  }
}
