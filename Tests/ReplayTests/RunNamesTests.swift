import Foundation
import Pipeline
import Pushes
import Sessions
import TestSupport
import Testing
import Vocabulary

@testable import Replay

@Suite struct RunNamesTests {
  private static let now = Samples.noon + .seconds(86_400)

  private func recorded(_ story: CookStory, _ place: Int) throws -> RecordedEvent {
    let form = RecordedForm(
      story.events[place].message, standIns: nil, receivedAt: story.events[place].storedAt)
    guard case .event(let line, _, _) = form,
      case .event(let event) = try RecordedLine(reading: line)
    else { throw BrokenLine("no event") }
    return event
  }

  @Test func `a played event happens now, to other people, under new ids`() throws {
    var story = try CookStory()
    try story.goToProposed()
    let event = try recorded(story, 2)
    let names = try #require(RunNames("a1"))
    let played = try #require(names.played(event, at: Self.now))
    let read = try Event(reading: played.message)
    guard case .session(let session, let mutation) = read.subject else {
      Issue.record("no session")
      return
    }
    #expect(read.time == Self.now && mutation == "ready")
    #expect(session.id != story.session.id && session.rev == 3)
    #expect(session.participants.map(\.userID.text) == ["lt-a1-u_dennis", "lt-a1-u_mara"])
    #expect(session.participants[0].name == "Dennis")
    #expect(session.updatedAt == Self.now)
    #expect(session.expiresAt == Self.now + .seconds(7200))
    #expect(read.deadline == session.expiresAt)
    #expect(played.message.text(Event.Header.loadTest) == "a1")
    #expect(played.message.id != story.events[2].message.id)
    #expect(played.routingKey == event.type)
  }

  @Test func `every run has its own sessions, and the same names the same`() throws {
    let (first, second) = (try #require(RunNames("a")), try #require(RunNames("b")))
    let id = SessionID("cs_1")
    #expect(first.session(id) == RunNames("a")?.session(id))
    #expect(first.session(id) != second.session(id))
    #expect(first.session(id) != first.session(SessionID("cs_2")))
    #expect(first.owns("lt-a-u_1") && !first.owns("lt-b-u_1") && !first.owns("u_1"))
    #expect(RunNames.drawn(at: Self.now).run.count < RunNames.nameMax)
  }

  @Test(arguments: ["", "A", "a-b", "ä", "a b", String(repeating: "a", count: 21)])
  func `a name that cannot stand in ids is refused`(name: String) {
    #expect(RunNames(name) == nil)
  }

  @Test func `tokens are registered by the phones, not played`() throws {
    let registered = Event.registered(
      Samples.registration(Samples.token(1), of: Samples.mara.userID, .alert), at: Samples.noon)
    let form = RecordedForm(registered.message, standIns: nil, receivedAt: Samples.noon)
    guard case .event(let line, _, _) = form,
      case .event(let event) = try RecordedLine(reading: line)
    else {
      Issue.record("it was not recorded")
      return
    }
    #expect(try #require(RunNames("a")).played(event, at: Self.now) == nil)
  }
}

@Suite struct EveningTests {
  private static var plan: Evening.Plan {
    var plan = Evening.Plan(begin: Samples.noon)
    plan.span = .seconds(900)
    plan.sessionsPerMinute = 20
    plan.people = 50
    return plan
  }

  @Test func `the same seed gives the same evening, another one another`() {
    let first = Array(Evening(Self.plan))
    #expect(Array(Evening(Self.plan)) == first)
    var other = Self.plan
    other.seed = 2
    #expect(Array(Evening(other)) != first)
    #expect(first.count > 500)
  }

  @Test func `events stand in the order of time, and no rev is missing`() throws {
    var revs: [SessionID: Int] = [:]
    var before = Self.plan.begin
    var types: Set<String> = []
    for entry in Evening(Self.plan) {
      #expect(entry.storedAt >= before && entry.storedAt < Self.plan.begin + Self.plan.span)
      before = entry.storedAt
      guard case .session(let session, _) = try Event(reading: entry.message).subject else {
        continue
      }
      #expect(session.rev == revs[session.id, default: 0] + 1)
      revs[session.id] = session.rev
      types.insert(entry.message.type)
    }
    // Everything that can happen does.
    let wanted = SessionEventType.allCases.map(\.typeName)
    #expect(types == Set(wanted))
  }

  @Test func `most begin at three fifths of the evening`() {
    #expect(Evening.share(0.6) == 1)
    #expect(Evening.share(0) < 0.25 && Evening.share(1) < 0.3)
  }
}
