import Foundation
import Pipeline
import Sessions
import Testing
import Vocabulary

@testable import Replay

/// `deploy/SCALING.md` says what follows from the figures that it states, and no other.
@Suite struct ScalingTests {
  private static let text = Result {
    try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "deploy/SCALING.md"), encoding: .utf8)
  }

  /// The rows of the table whose first head is `head`, cell by cell.
  private static func table(_ head: String) throws -> [[String]] {
    let lines = try text.get().split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0.hasPrefix("| \(head) |") }, "\(head)")
    return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  /// `94 629` is 94629.
  private static func number(_ cell: String) throws -> Double {
    try #require(Double(cell.replacing(" ", with: "")), "\(cell) is no number")
  }

  /// Inputs by their names.
  private static func inputs() throws -> [String: Double] {
    try table("input").reduce(into: [:]) { $0[$1[0]] = try number($1[1]) }
  }

  @Test func `the traffic is that of the generator`() throws {
    var plan = Evening.Plan(begin: UnixTime(milliseconds: 1_781_787_600_000))
    plan.span = .seconds(1800)
    var lives: [String: (first: UnixTime, last: UnixTime, events: Int, isOver: Bool)] = [:]
    for event in Evening(plan) {
      let form = try EventForm.reading(event.message.body)
      let session = try #require(form.session)
      let life = lives[session.id.text]
      let isOver = session.state == .decided || session.state == .cancelled
      lives[session.id.text] = (
        life?.first ?? form.time, form.time, (life?.events ?? 0) + 1, isOver
      )
    }
    let over = lives.values.filter(\.isOver)
    try #require(over.count > 500)
    let mutations = Double(over.reduce(0) { $0 + $1.events })
    let minutes = over.reduce(0.0) { $0 + Double(($1.last - $1.first).milliseconds) / 60_000 }
    let inputs = try Self.inputs()
    let rate = try #require(inputs["mutations per live session and minute"])
    let each = try #require(inputs["mutations per session"])
    #expect(abs(mutations / minutes - rate) < 0.05, "\(mutations / minutes)")
    #expect(abs(mutations / Double(over.count) - each) < 0.05)
  }

  @Test func `what many sessions need follows from the inputs`() throws {
    let inputs = try Self.inputs()
    func input(_ name: String) throws -> Double { try #require(inputs[name], "\(name)") }
    let rows = try Self.table("live sessions")
    #expect(try rows.map { try Self.number($0[0]) } == [10_000, 100_000, 1_000_000])
    for row in rows {
      let sessions = try Self.number(row[0])
      let mutations = sessions * (try input("mutations per live session and minute")) / 60
      let pushes = mutations * (try input("pushes per mutation"))
      #expect(try Self.number(row[1]) == mutations.rounded(), "\(row)")
      #expect(try Self.number(row[2]) == pushes.rounded(), "\(row)")
      let costs: [(String, Double)] = [
        ("api", mutations), ("payload-builder", mutations), ("apns-sender", pushes),
        ("notifier", mutations), ("rabbitmq", mutations),
      ]
      for (place, cost) in costs.enumerated() {
        let seconds = cost.1 * (try input("\(cost.0), µs")) / 1e6
        let cores = (seconds / (try input("load of a core at most"))).rounded(.up)
        #expect(try Self.number(row[3 + place]) == cores, "\(cost.0) of \(row)")
      }
    }
  }

  @Test func `what one machine holds follows from the rate that it carried`() throws {
    let inputs = try Self.inputs()
    let carried = try #require(inputs["mutations/s that two cores carried"])
    let rate = try #require(inputs["mutations per live session and minute"])
    let held = try #require(inputs["live sessions on two cores"])
    #expect(held == (carried / rate * 60 / 100).rounded(.down) * 100)
  }
}
