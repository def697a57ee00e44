import Foundation
import Pipeline
import ServiceRuntime
import Sessions
import TestSupport
import Testing
import Vocabulary

@testable import Replay

@Suite struct RecorderTests {
  /// Hands out what it is given, then raises the stop signal.
  private final class ScriptedTap: EventTap {
    enum Step {
      case messages([Message])
      case lost(String)
    }

    private var steps: [Step]
    private let stop: StopSignal
    private(set) var acknowledged = 0
    private var handedOut = 0

    init(_ steps: [Step], stop: StopSignal) {
      self.steps = steps
      self.stop = stop
    }

    func open() throws(BrokerLost) {}

    func receive(within limit: Duration) throws(BrokerLost) -> [Message] {
      guard !steps.isEmpty else {
        stop.raise()
        return []
      }
      switch steps.removeFirst() {
      case .messages(let messages):
        handedOut += messages.count
        return messages
      case .lost(let reason): throw BrokerLost(reason)
      }
    }

    func acknowledge() throws(BrokerLost) { acknowledged = handedOut }
    func close() {}
  }

  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "recorder-\(UUID().uuidString)")

  private func record(
    _ steps: [ScriptedTap.Step], _ change: (inout Recorder.Settings) -> Void = { _ in }
  ) throws -> Recorder.Report {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let stop = StopSignal()
    let tap = ScriptedTap(steps, stop: stop)
    var settings = Recorder.Settings(
      path: folder.appending(path: "r.jsonl.gz").path(percentEncoded: false), source: "test",
      standIns: nil)
    change(&settings)
    let recorder = Recorder(settings, tap: tap, time: SystemTime(), log: .discarding) { user in
      user == Samples.mara.userID
        ? RecordedUser(user: user, tokens: ["alert"], assumed: nil, locale: "en-GB") : nil
    }
    let report = try recorder.run(until: stop) { _ in }
    #expect(tap.acknowledged == report.events + report.leftOut)
    return report
  }

  private func story() throws -> [Message] {
    var story = try CookStory()
    try story.goToProposed()
    return story.events.map(\.message)
  }

  @Test func `everything that is heard is written, with who is reached by what`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let messages = try story()
    let report = try record([.messages([messages[0]]), .messages(Array(messages[1...]))])
    #expect(report.events == messages.count && report.missed == 0 && report.files.count == 1)
    let summary = try RecordingSummary(path: report.files[0])
    #expect(summary.events == messages.count && summary.notes.isEmpty)
    #expect(
      summary.users == [
        RecordedUser(
          user: Samples.dennis.userID, tokens: RecordedUser.usualTokens, assumed: true,
          locale: nil),
        RecordedUser(
          user: Samples.mara.userID, tokens: ["alert"], assumed: nil, locale: "en-GB"),
      ])
  }

  @Test func `missed events and a broker that was away stand in the file`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let messages = try story()
    let report = try record([
      .messages([messages[0]]), .lost("cut off"), .messages([messages[3]]),
    ])
    #expect(report.events == 2 && report.missed == 2)
    let summary = try RecordingSummary(path: report.files[0])
    #expect(summary.notes.contains { $0.what.contains("cut off") })
    #expect(summary.notes.contains { $0.what.hasPrefix("2 events are missing") })
  }

  @Test func `what cannot be read is counted, and why is told`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    var odd = try story()[0]
    odd.body = Data("{}".utf8)
    let report = try record([.messages([odd])])
    #expect(report.leftOut == 1 && report.events == 0)
    #expect(report.leftOutBecause?.contains("type") == true)
  }

  @Test func `a full file is followed by another, each whole in itself`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let messages = try story()
    let report = try record(messages.map { .messages([$0]) }) { $0.file_bytes_max = 1 }
    #expect(report.files.count == messages.count + 1)
    #expect(report.files[1].hasSuffix("/r.2.jsonl.gz"))
    for file in report.files.dropLast() {
      let summary = try RecordingSummary(path: file)
      #expect(summary.header != nil && summary.events == 1 && summary.users.count == 2)
    }
  }

  @Test func `a file that is there is never written over`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    _ = try record([.messages(try story())])
    #expect(throws: RecordingUnreadable.self) { try record([.messages(try story())]) }
  }
}
