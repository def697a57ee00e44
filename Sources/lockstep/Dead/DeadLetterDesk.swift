import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import Vocabulary

/// Carries out one `lockstep dead` command over the dead queues.
struct DeadLetterDesk {
  /// With what their messages failed in.
  let queues: [(name: String, stage: String)]
  /// Messages looked at per queue.
  let limit: Int
  let topology: Topology
  let prints: Prints
  let walk: DeadQueueWalk

  func list() throws {
    var groups = DeadLetterGroups()
    try walkAll { letter, stage in
      groups.add(letter, stage: stage)
      return .keep
    }
    var table = Table(["stage", "reason", "count", "first_failed_at", "last_failed_at"])
    for group in groups.sorted {
      table.add([
        .string(group.stage), .string(TokenFolding.fold(group.reason)),
        .integer(Int64(group.count)), Self.time(group.firstFailedAt), Self.time(group.lastFailedAt),
      ])
    }
    prints.table(table, otherwise: "no dead letters")
  }

  /// Every message in full; several may have one id.
  func show(_ selection: DeadLetterSelection) throws {
    var found = 0
    var objects: [JSONValue] = []
    try walkAll { letter, stage in
      guard selection.takes(letter) else { return .keep }
      found += 1
      if found <= Self.shownMax {
        let shown = ShownDeadLetter(letter, stage: stage, topology: topology)
        if prints.isJSON {
          objects.append(shown.json)
        } else {
          print(shown.text, terminator: "\n\n")
        }
      }
      return .keep
    }
    guard found > 0 else { throw nothing(selection) }
    if prints.isJSON { print(String(decoding: JSON.encoded(objects), as: UTF8.self)) }
    if found > Self.shownMax {
      prints.aside("\(found - Self.shownMax) more are not shown; replay --to-file writes all")
    }
  }

  /// Longer output is for a file.
  private static let shownMax = 100

  func replay(_ selection: DeadLetterSelection, isDry: Bool) throws {
    var lost: [String: Int] = [:]
    let report = try act(selection, verb: isDry ? "would go back" : "went back") { letter in
      guard let origin = letter.origin(in: topology) else {
        lost[letter.queue, default: 0] += 1
        return nil
      }
      return (
        origin.exchange == origin.routingKey
          ? origin.exchange : "\(origin.exchange), \(origin.routingKey)",
        isDry ? .keep : .replay(letter.replay(to: origin))
      )
    }
    for (queue, count) in lost.sorted(by: { $0.key < $1.key }) {
      prints.aside("\(queue): \(count) stay: queues.yaml does not know where they came from")
    }
    if report.refused > 0 {
      throw CommandFailure(
        .unavailable,
        "\(report.refused) stay, they could not be published: \(report.refusal ?? "")")
    }
    if !lost.isEmpty { throw CommandFailure(.noInput, "not all could go back") }
  }

  func drop(_ selection: DeadLetterSelection, isDry: Bool) throws {
    _ = try act(selection, verb: isDry ? "would be dropped" : "dropped") { letter in
      ("", isDry ? .keep : .drop)
    }
  }

  /// Does the same with all that are meant, and prints how many there were.
  ///
  /// `decide`: where it goes and what is done; nil leaves it out.
  private func act(
    _ selection: DeadLetterSelection, verb: String,
    _ decide: (DeadLetter) throws -> (to: String, DeadQueueWalk.Verdict)?
  ) throws -> DeadQueueWalk.Report {
    struct Row: Hashable { let stage, reason, to: String }
    var counts: [Row: Int64] = [:]
    var found = 0
    let report = try walkAll { letter, stage in
      guard selection.takes(letter) else { return .keep }
      found += 1
      guard let (to, verdict) = try decide(letter) else { return .keep }
      let isMany = counts.count >= Self.rowsMax
      let reason = isMany ? "(other reasons)" : TokenFolding.fold(letter.foldedReason)
      counts[Row(stage: stage, reason: reason, to: to), default: 0] += 1
      return verdict
    }
    guard found > 0 else { throw nothing(selection) }
    var table = Table(["stage", "reason", "to", "count"])
    for (row, count) in counts.sorted(by: {
      ($0.key.stage, $0.key.reason) < ($1.key.stage, $1.key.reason)
    }) {
      table.add([.string(row.stage), .string(row.reason), .string(row.to), .integer(count)])
    }
    prints.table(table, otherwise: "none")
    let count = counts.values.reduce(0, +) - Int64(report.refused)
    prints.aside("\(count) \(verb)")
    return report
  }

  private static let rowsMax = 1000

  func write(_ selection: DeadLetterSelection, to path: String, isRaw: Bool) throws {
    let file = try NewFile(path, option: "--to-file")
    var count = 0
    do {
      try walkAll { letter, stage in
        guard selection.takes(letter) else { return .keep }
        count += 1
        let shown = ShownDeadLetter(letter, stage: stage, topology: topology)
        try file.write(JSON.encoded(isRaw ? shown.rawJSON : shown.json) + Data("\n".utf8))
        return .keep
      }
      guard count > 0 else { throw nothing(selection) }
      try file.finish()
    } catch {
      file.discard()
      throw error
    }
    prints.aside("\(count) written to \(path), and left where they are")
  }

  @discardableResult
  private func walkAll(_ decide: (DeadLetter, String) throws -> DeadQueueWalk.Verdict) throws
    -> DeadQueueWalk.Report
  {
    var all = DeadQueueWalk.Report()
    for queue in queues {
      let report = try walk.walk(queue.name, atMost: limit) { try decide($0, queue.stage) }
      all.replayed += report.replayed
      all.dropped += report.dropped
      all.refused += report.refused
      all.refusal = all.refusal ?? report.refusal
      if report.seen < report.depth {
        prints.aside("\(queue.name): looked at \(report.seen) of \(report.depth), see --limit")
      }
    }
    return all
  }

  private func nothing(_ selection: DeadLetterSelection) -> CommandFailure {
    CommandFailure(.noInput, "no dead letter \(selection.words) among those looked at")
  }

  static func time(_ moment: UnixTime?) -> JSONValue {
    moment.map { .string($0.rfc3339) } ?? .null
  }
}
