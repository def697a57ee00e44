import Foundation
import Pipeline
import Pushes
import Sessions
import TestSupport
import Testing
import Vocabulary

@Suite struct TimelineTests {
  /// A superseded push, a token that dies, a card that is dismissed.
  private func dinner() throws -> ExplainWorld {
    let world = try ExplainWorld()
    try world.register(1, of: Samples.mara, .pushToStart, isHeard: false)
    try world.register(2, of: Samples.mara, .pushToStart, isHeard: false)
    try world.register(3, of: Samples.dennis, .update, isHeard: false)
    // The second phone's start is put off by APNs until that card is dismissed on the first.
    world.transport.answer = {
      $0.token == Samples.token(2) ? .status(429, "TooManyRequests") : .status(200)
    }
    try world.commit()
    try world.turns(then: .seconds(2))
    try world.register(4, of: Samples.mara, .update)
    try world.turns(then: .milliseconds(500))
    try world.report(Samples.mara, .active, rev: 1)
    world.transport.answer = {
      switch $0.token {
      case Samples.token(2): .status(429, "TooManyRequests")
      case Samples.token(3): .status(503, "ServiceUnavailable")
      default: .status(200)
      }
    }
    try world.go(.ready(true), by: Samples.dennis)
    try world.turns(then: .milliseconds(1250))
    world.transport.answer = { _ in .status(200) }
    try world.report(Samples.mara, .dismissed)
    try world.go(.ready(true), by: Samples.mara)
    try world.turns(then: .seconds(40))
    try world.turns(then: .seconds(5))
    world.transport.answer = {
      $0.token == Samples.token(3) ? .status(410, "Unregistered") : .status(200)
    }
    let job = try #require(world.story.session.job)
    let dish = Proposal(id: ProposalID("p_1"), title: "Linsen-Dal")
    try world.go(.proposals(job.jobID, [dish]))
    try world.turns()
    return world
  }

  private func text(_ timeline: Timeline) -> Data {
    let begun = timeline.entries.first?.at ?? Samples.noon
    let lines = timeline.entries.map { entry in
      let who = entry.userID?.text ?? "-"
      return "\(entry.at) +\(Spans.text(entry.at - begun)) \(entry.source.rawValue) \(who): "
        + entry.text
    }
    let answers = timeline.answers.map { "\($0.userID): \($0.text)" }
    return Data((lines + [""] + answers + [""]).joined(separator: "\n").utf8)
  }

  @Test func `a superseded push, a dead token and a dismissed card are told in order`() throws {
    let timeline = try dinner().timeline(later: .seconds(7200))
    try expectGolden("timeline.txt", text(timeline))
  }

  @Test func `one person's timeline has what everybody did, and only that person's pushes`() throws
  {
    let world = try dinner()
    let all = try world.timeline().entries
    let mara = try world.timeline(for: Samples.mara)
    #expect(mara.answers.map(\.userID) == [Samples.mara.userID])
    #expect(mara.entries.filter { $0.source == .api } == all.filter { $0.source == .api })
    #expect(mara.entries.allSatisfy { $0.source == .api || $0.userID == Samples.mara.userID })
    #expect(mara.entries.count > 10)
  }

  @Test func `no token is told whole`() throws {
    let text = String(decoding: text(try dinner().timeline()), as: UTF8.self)
    for number in 1...4 {
      #expect(text.contains(Samples.token(number).fingerprint))
      #expect(!text.contains(Samples.token(number).hex))
    }
  }

  @Test func `of a session that nobody knows nothing is known`() throws {
    let world = try ExplainWorld()
    #expect(try world.history().isEmpty)
    let timeline = try world.timeline()
    #expect(timeline.entries.isEmpty)
    #expect(timeline.answers.isEmpty)
  }

  @Test func `a session that another program keeps is explained all the same`() throws {
    let world = try ExplainWorld()
    world.tell(world.story.last)
    try world.turns()
    let history = try world.history()
    #expect(history.session == nil)
    #expect(history.users == [Samples.dennis.userID, Samples.mara.userID])
    #expect(try world.answer(Samples.mara) == "no token registered: the card cannot be started.")
  }

  @Test func `an older event that comes late is told as passed over`() throws {
    let world = try ExplainWorld()
    let first = world.story.last
    try world.go(.ready(true), by: Samples.dennis)
    try world.turns()
    world.tell(first)
    try world.turns()
    let texts = try world.timeline(for: Samples.mara).entries.map(\.text)
    #expect(texts.last == "passed over rev 1: rev 2 is known")
    world.tell(world.story.last)
    try world.turns()
    let again = try world.timeline(for: Samples.mara).entries.map(\.text)
    #expect(again.last?.hasPrefix("met rev 2 again → nothing to send") == true)
  }

  @Test(arguments: [
    (Duration.zero, "0.000 s"), (.milliseconds(-5), "0.000 s"), (.milliseconds(9999), "9.999 s"),
    (.milliseconds(10_000), "10.0 s"), (.milliseconds(59_999), "59.9 s"),
    (.seconds(60), "1 min 0 s"), (.seconds(3599), "59 min 59 s"), (.seconds(3600), "1 h 0 min"),
    (.seconds(86_399), "23 h 59 min"), (.seconds(86_400), "1 d 0 h"),
    (.seconds(90_000), "1 d 1 h"),
  ])
  func `spans are said as people say them`(span: Duration, words: String) {
    #expect(Spans.text(span) == words)
  }
}
