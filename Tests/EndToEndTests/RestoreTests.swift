import Activities
import Foundation
import Pipeline
import SQLiteStore
import TestSupport
import Testing
import Vocabulary

/// `deploy/restore` on a database that the test made; nothing runs.
@Suite struct RestoreTests {
  @Test func `whatever the umask, only their owner may read a copy and what is restored`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "lockstep-restore-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.path(percentEncoded: false)
    _ = try SQLiteStore(path: "\(path)/lockstep.sqlite")
    let script = """
      umask 000; copy=$(deploy/backup $1/lockstep.sqlite $1/copies)
      deploy/restore "$copy" $1/restored.sqlite; stat -c %a "$copy" $1/restored.sqlite
      """
    let outcome = try Programs.run(
      URL(filePath: "/usr/bin/env"),
      ["-C", Programs.repository.path(percentEncoded: false), "bash", "-euc", script, "sh", path])
    #expect(outcome.code == 0, "\(outcome.errors)")
    #expect(outcome.output.hasSuffix("\n600\n600\n"), "\(outcome.output)")
  }

  @Test func `an activity that goes on is set ahead of every phone, card by card`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "lockstep-restore-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }
    let state: JSONValue = ["title": "Größe \"M\"", "progress": .number(0.25), "data": [:]]
    let started = Activity.start(
      ActivityKey("order-1"), attributesType: "ShinyActivityAttributes",
      attributes: ["values": ["a": "b"]],
      ActivityContent(states: [(UserID("dennis"), state), (UserID("mara"), state)]),
      at: Samples.noon
    ).activity
    let changed = try #require(
      try started.updated(
        with: ActivityContent(states: [(UserID("mara"), ["title": "x"])]), at: Samples.noon)
    ).activity
    let ended = try #require(
      Activity.start(
        ActivityKey("order-2"), attributesType: "ShinyActivityAttributes",
        attributes: ["values": [:]], ActivityContent(states: [(UserID("dennis"), state)]),
        at: Samples.noon
      ).activity.ended(.ended, at: Samples.noon)
    ).activity
    do {
      let store = try SQLiteStore(path: path("copy.sqlite"))
      try store.write { rows in
        for activity in [changed, ended] { try rows.save(activity) }
      }
    }
    let outcome = try Programs.run(
      Programs.repository.appending(path: "deploy/restore"),
      [path("copy.sqlite"), path("lockstep.sqlite")])
    #expect(outcome.code == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("0 sessions and 1 activities"))
    let store = try SQLiteStore(path: path("lockstep.sqlite"))
    let restored = try #require(try store.read { try $0.activity(ActivityKey("order-1")) })
    #expect(restored.rev == 1_000_002)
    #expect(restored.recipients.map(\.rev) == [1_000_001, 1_000_002])
    #expect(restored.recipients.map(\.userID) == changed.recipients.map(\.userID))
    #expect(restored.recipients.map(\.contentState) == changed.recipients.map(\.contentState))
    #expect(try store.read { try $0.activity(ActivityKey("order-2")) } == ended)
    // What comes next is newer than all that any phone has seen.
    let next = try #require(
      try restored.updated(
        with: ActivityContent(states: [(UserID("dennis"), ["title": "y"])]), at: Samples.noon))
    #expect(next.activity.recipients.map(\.rev) == [1_000_003, 1_000_002])
  }
}
