import Foundation
import Pipeline
import Pushes
import Sessions
import TestSupport
import Testing
import Vocabulary

@Suite struct PayloadBuilderTests {
  private let time = ManualTime()
  private let store = InMemoryStore()
  private let builder: PayloadBuilder
  private let startToken = Samples.token(1)
  private let marasToken = Samples.token(2)
  private let dennisToken = Samples.token(3)

  init() {
    builder = PayloadBuilder(store: store, pushes: Samples.routes[.apns], time: time)
  }

  private func register(_ registrations: Registration...) throws {
    try store.write { transaction in
      for registration in registrations { try transaction.register(registration) }
    }
  }

  private func registerAll(_ story: CookStory) throws {
    try register(
      Samples.registration(startToken, of: Samples.mara.userID, .pushToStart),
      update(marasToken, Samples.mara, story), update(dennisToken, Samples.dennis, story))
  }

  private func update(_ token: PushToken, _ owner: Profile, _ story: CookStory) -> Registration {
    Samples.registration(token, of: owner.userID, .update, context: story.context(owner))
  }

  private func take(_ events: [OutboxEvent]) throws -> [Settlement] {
    try builder.take(
      events.enumerated().map { Samples.delivery($1.message, UInt64($0 + 1)) })
  }

  private func jobs(_ settlements: [Settlement]) throws -> [PushJob] {
    try settlements.flatMap(\.outgoing).map { try PushJob(reading: $0.message) }
  }

  private func states(_ story: CookStory) throws -> [ContextKey: ActivityState] {
    try store.read {
      try $0.activityStates([story.context(Samples.dennis), story.context(Samples.mara)])
    }
  }

  // MARK: One event

  @Test func `each participant gets its own view, in its own language`() throws {
    var story = try CookStory()
    try store.write { transaction in
      try transaction.save(Samples.dennis)
      try transaction.save(Samples.mara)
    }
    try registerAll(story)
    try story.goToProposed()
    let settlements = try take([story.go(.pick(ProposalID("p_1")), by: Samples.dennis)])
    #expect(settlements.map(\.disposition) == [.done])
    #expect(
      settlements.flatMap(\.outgoing).allSatisfy {
        $0.exchange == "apns" && $0.routingKey == "apns"
      })
    let jobs = try jobs(settlements)
    #expect(jobs.map(\.event) == [.update, .update, .start])
    let labels = try Dictionary(
      uniqueKeysWithValues: jobs.map { job in
        let state = try JSONValue(parsing: job.payload)["aps"]?["content-state"]
        return (job.token, state?["statusLabel"])
      })
    #expect(labels[dennisToken] == "Warte auf Mara")
    #expect(labels[marasToken] == "How about Linsen-Dal?")
  }

  @Test func `E-7 a start carries what iOS needs, with one id for all its revs`() throws {
    var story = try CookStory()
    try registerAll(story)
    try story.go(.join, by: Samples.mara)
    let starts = try jobs(take(story.events)).filter { $0.event == .start }
    #expect(starts.count == 2)
    #expect(Set(starts.map(\.id)).count == 1)
    #expect(Set(starts.map(\.collapseID)) == ["start:cs_1"])
    for start in starts {
      let aps = try JSONValue(parsing: start.payload)["aps"]
      #expect(aps?["attributes"]?["partnerName"] == "Dennis")
      #expect(aps?["alert"]?["title"] == "Plan mit Dennis das Essen")
      #expect(aps?["stale-date"] != nil)
      #expect(start.userID == Samples.mara.userID)
    }
  }

  @Test func `an event that comes twice makes the same jobs again`() throws {
    let story = try CookStory()
    try registerAll(story)
    let first = try jobs(take(story.events))
    #expect(try jobs(take(story.events)) == first)
    #expect(Set(first.map(\.id)).count == first.count)
  }

  @Test func `an older event is stale, one whose deadline has come is expired`() throws {
    var story = try CookStory()
    try story.go(.join, by: Samples.mara)
    #expect(try take([story.events[1], story.events[0]]).map(\.disposition) == [.done, .stale])
    time.advance(by: .seconds(2 * 3600 + 1))
    #expect(try take([story.events[1]]).map(\.disposition) == [.expired])
  }

  @Test func `who left is told so after the session's time too, and nobody anything else`() throws {
    var story = try CookStory()
    try registerAll(story)
    try story.go(.leave, by: Samples.mara)
    time.advance(by: .seconds(2 * 3600 + 1))
    let late = try take([story.last])
    #expect(late.map(\.disposition) == [.done])
    let jobs = try jobs(late)
    #expect(jobs.map(\.token) == [marasToken])
    #expect(jobs.map(\.event) == [.end])
    #expect(jobs.allSatisfy { $0.deadline > time.now() })
    #expect(try states(story).keys.map(\.self) == [story.context(Samples.mara)])
    let books = try store.read { try $0.builds(of: story.session.id) }
    #expect(Set(books.map(\.outcome)) == [.stored, .expired])
    #expect(try self.jobs(take([story.last])) == jobs, "its first builder may have died")
    time.advance(by: .seconds(8 * 3600))
    #expect(try take([story.last]).map(\.disposition) == [.expired])
  }

  @Test func `what cannot be read is dead and holds nothing up`() throws {
    let story = try CookStory()
    let broken = Message(id: "x", type: "", contentType: "", body: Data("{}".utf8))
    let settlements = try builder.take([
      Samples.delivery(broken, 1), Samples.delivery(story.last.message, 2),
    ])
    #expect(settlements.count == 2)
    let dead = settlements.first { $0.delivery.tag.number == 1 }
    #expect(dead?.disposition == .dead(because: "specversion is missing"))
  }

  @Test func `a solo session pushes nothing`() throws {
    var story = try CookStory(partner: nil)
    try registerAll(story)
    try story.go(.ready(true), by: Samples.dennis)
    let settlements = try take(story.events)
    #expect(settlements.map(\.disposition) == [.done, .done])
    #expect(settlements.flatMap(\.outgoing).isEmpty)
  }

  // MARK: Any order

  @Test(arguments: 0..<40)
  func `E-17 in any order and each twice, the newest state is kept and started once`(seed: Int)
    throws
  {
    var random = SeededRandom(seed: UInt64(seed))
    var story = try CookStory()
    try registerAll(story)
    try story.goToProposed()
    try story.go(.pick(ProposalID("p_2")), by: Samples.mara)
    let made = try jobs(take((story.events + story.events).shuffled(using: &random)))
    let kept = try states(story)
    #expect(kept.values.map(\.rev) == [5, 5], "seed \(seed)")
    for token in [marasToken, dennisToken] {
      let revs = made.filter { $0.token == token }.map(\.rev)
      #expect(revs == revs.sorted(), "seed \(seed): an older state after a newer one")
      #expect(revs.last == 5, "seed \(seed)")
    }
    #expect(Set(made.filter { $0.event == .start }.map(\.id)).count == 1, "seed \(seed)")
  }

  // MARK: Starts

  @Test func `a start without a token is made by the next event`() throws {
    var story = try CookStory()
    #expect(try jobs(take(story.events)).isEmpty)
    try register(Samples.registration(startToken, of: Samples.mara.userID, .pushToStart))
    let next = try jobs(take([story.go(.ready(true), by: Samples.dennis)]))
    #expect(next.map(\.event) == [.start])
    #expect(next.map(\.token) == [startToken])
  }

  @Test func `a start that APNs accepted is not made again`() throws {
    var story = try CookStory()
    try registerAll(story)
    _ = try take(story.events)
    try store.write {
      try $0.acceptStart(of: story.session.id, token: startToken, at: Samples.noon)
    }
    let next = try jobs(take([story.go(.ready(true), by: Samples.dennis)]))
    #expect(next.map(\.event) == [.update, .update])
  }

  @Test func `E-8 a dismissed card is never started`() throws {
    var story = try CookStory()
    try registerAll(story)
    try store.write {
      try $0.save(
        PhoneReport(
          contextKey: story.context(Samples.mara), userID: Samples.mara.userID, state: .dismissed,
          rev: 1, reportedAt: Samples.noon))
    }
    try story.go(.ready(true), by: Samples.dennis)
    #expect(try jobs(take(story.events)).allSatisfy { $0.event == .update })
  }

  @Test func `the initiator and an ended session are never started`() throws {
    var story = try CookStory()
    try register(
      Samples.registration(startToken, of: Samples.dennis.userID, .pushToStart),
      Samples.registration(Samples.token(9), of: Samples.mara.userID, .pushToStart))
    let cancelled = try story.go(.cancel, by: Samples.dennis)
    #expect(try jobs(take([cancelled])).isEmpty)
    #expect(try take([story.events[0]]).map(\.disposition) == [.stale])
  }

  @Test func `a start token for another type of activity is left alone`() throws {
    let story = try CookStory()
    var registration = Samples.registration(startToken, of: Samples.mara.userID, .pushToStart)
    registration.attributesType = "OtherAttributes"
    try register(registration)
    #expect(try jobs(take(story.events)).isEmpty)
  }

  // MARK: Late tokens

  @Test func `a late update token gets the newest state`() throws {
    var story = try CookStory()
    try story.go(.join, by: Samples.mara)
    _ = try take(story.events)
    let late = update(marasToken, Samples.mara, story)
    try register(late, update(dennisToken, Samples.dennis, story))
    let made = try jobs(take([Event.registered(late, at: time.now())]))
    #expect(made.map(\.token) == [marasToken])
    #expect(made.map(\.rev) == [2])
    #expect(made.map(\.event) == [.update])
  }

  @Test func `E-9 a late update token of an ended session gets its end`() throws {
    var story = try CookStory()
    try story.go(.cancel, by: Samples.dennis)
    _ = try take(story.events)
    let late = update(marasToken, Samples.mara, story)
    try register(late)
    let made = try jobs(take([Event.registered(late, at: time.now())]))
    #expect(made.map(\.event) == [.end])
    let aps = try JSONValue(parsing: try #require(made.first).payload)["aps"]
    #expect(aps?["dismissal-date"] == .integer(story.last.storedAt.seconds))
  }

  @Test func `a late update token of an unknown activity gets nothing`() throws {
    let story = try CookStory()
    let late = update(marasToken, Samples.mara, story)
    try register(late)
    #expect(try jobs(take([Event.registered(late, at: time.now())])).isEmpty)
  }

  @Test func `a late start token gets the starts that waited for it`() throws {
    let story = try CookStory()
    _ = try take(story.events)
    let late = Samples.registration(startToken, of: Samples.mara.userID, .pushToStart)
    try register(late)
    #expect(try jobs(take([Event.registered(late, at: time.now())])).map(\.event) == [.start])
  }

  // MARK: Ends

  @Test func `a leaver gets an end and nothing after, the others go on`() throws {
    var story = try CookStory()
    try registerAll(story)
    _ = try take(story.events)
    let left = try jobs(take([story.go(.leave, by: Samples.mara)]))
    #expect(left.first { $0.token == marasToken }?.event == .end)
    #expect(left.first { $0.token == dennisToken }?.event == .update)
    #expect(left.count == 2)
    let after = try jobs(take([story.go(.ready(true), by: Samples.dennis)]))
    #expect(after.map(\.token) == [dennisToken])
  }

  @Test func `a decided card stays for two minutes`() throws {
    var story = try CookStory()
    try registerAll(story)
    try story.goToProposed()
    try story.goToDecided()
    let ends = try jobs(take([story.last]))
    #expect(ends.map(\.event) == [.end, .end])
    for end in ends {
      let aps = try JSONValue(parsing: end.payload)["aps"]
      #expect(aps?["dismissal-date"] == .integer(story.last.storedAt.seconds + 120))
      #expect(aps?["content-state"]?["decidedTitle"] == "Linsen-Dal")
      #expect(aps?["content-state"]?["ended"] == true)
    }
  }
}
