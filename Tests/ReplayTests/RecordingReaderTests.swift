import Foundation
import Pipeline
import Sessions
import TestSupport
import Testing
import Vocabulary

@testable import Replay

@Suite struct RecordingReaderTests {
  private static let header = #"{"lockstep_recording":1,"made_at":"2026-06-18T12:00:00Z"}"#
  private static let user = #"{"user":"u_dennis","tokens":["alert"]}"#
  private static let end = #"{"end":{"events":1,"missed":0,"left_out":0}}"#

  private func event() throws -> String {
    let story = try CookStory()
    let form = RecordedForm(story.last.message, standIns: nil, receivedAt: Samples.noon)
    guard case .event(let line, _, _) = form else { throw BrokenLine("no event") }
    return String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  private func summary(_ lines: [String]) throws -> RecordingSummary {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
    return try RecordingSummary(path: file.path(percentEncoded: false))
  }

  @Test func `a whole recording has no notes`() throws {
    let summary = try summary([Self.header, Self.user, try event(), Self.end])
    #expect(summary.notes.isEmpty)
    #expect(summary.events == 1)
    #expect(summary.users.map(\.user.text) == ["u_dennis", "u_mara"])
    #expect(summary.users[0].tokens == ["alert"])
    #expect(summary.users[1].assumed == true)
  }

  @Test func `a broken line is named, and the rest is read`() throws {
    let event = try event()
    let summary = try summary([
      Self.header, event.replacing("\"rev\":1", with: "\"rev\":\"one\""), "{", event, "[]",
      #"{"event":{"type":"other.thing","time":"2026-06-18T12:00:00Z","data":{}}}"#, Self.end,
    ])
    #expect(summary.events == 1)
    #expect(summary.notes.map(\.line) == [2, 3, 5, 6])
    #expect(summary.notes[0].what.contains("rev"))
    #expect(summary.notes[3].what == "type \"other.thing\" is not known")
  }

  @Test func `a file of another version is named, and what can be read is played`() throws {
    let event = try event()
    let old = try summary([#"{"lockstep_recording":0}"#, event, Self.end])
    #expect(old.events == 1)
    #expect(old.notes.map(\.line) == [1])
    #expect(old.notes[0].what.hasPrefix("is written in the older version 0"))
    let new = try summary([#"{"lockstep_recording":7}"#, event, Self.end])
    #expect(new.notes[0].what.hasPrefix("is written in the newer version 7"))
    let none = try summary([event, Self.end])
    #expect(none.notes.map(\.description) == ["line 1: no header stands before it"])
  }

  @Test func `what is missing and an end that is missing are said`() throws {
    let missed = #"{"missed":3,"because":"revs jumped"}"#
    let summary = try summary([Self.header, missed, try event()])
    #expect(
      summary.notes.map(\.description) == [
        "line 2: 3 events are missing before the next line: revs jumped",
        "line 3: is the last; no end follows: the recorder did not stop in order",
      ])
  }

  @Test func `an event comes back as it was recorded`() throws {
    var story = try CookStory()
    try story.goToProposed()
    for (place, outbox) in story.events.enumerated() {
      let form = RecordedForm(outbox.message, standIns: nil, receivedAt: outbox.storedAt)
      guard case .event(let line, let users, let session) = form else {
        Issue.record("event \(place) was left out")
        continue
      }
      guard case .event(let event) = try RecordedLine(reading: line) else {
        Issue.record("line \(place) is no event")
        continue
      }
      #expect(event.at == outbox.storedAt && event.time == outbox.storedAt)
      #expect(event.type == outbox.message.type)
      #expect(event.mutation == story.mutations[place].mutation)
      #expect(event.actor == story.mutations[place].userID)
      #expect(event.deadline?.milliseconds == outbox.message.integer(Event.Header.deadline))
      #expect(users == story.session.participants.map(\.userID))
      #expect(session?.rev == place + 1)
    }
  }

  @Test func `the recording in the repository is whole`() throws {
    let file = try #require(
      Bundle.module.url(
        forResource: "evening", withExtension: "jsonl.gz", subdirectory: "Recordings"))
    let size = try #require(
      try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int)
    #expect(size < 200_000)
    let summary = try RecordingSummary(path: file.path(percentEncoded: false))
    #expect(summary.notes.isEmpty && summary.header?.anonymised == true)
    #expect(summary.events > 300 && summary.users.count > 20)
  }
}
