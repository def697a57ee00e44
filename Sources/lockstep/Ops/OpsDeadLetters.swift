import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import Synchronization
import Vocabulary

/// Dead letters for the ops page: grouped by reason, some of each to be read, and sent back where
/// they failed. Looking harms nothing, and no whole push token is shown.
struct OpsDeadLetters: Sendable {
  /// Messages looked at per queue, the oldest first.
  private static let lookedAtMax = 5000
  /// Of one group that can be read on the page.
  private static let shownMax = 5
  /// Of the text of each, in bytes: a body may have 16 MiB.
  private static let textBytesMax = 16 * 1024
  /// Of all texts together, in bytes: what no page could show is not shown.
  private static let textsBytesMax = 4 * 1024 * 1024

  private let topology: Topology
  private let address: BrokerAddress
  private let log: Log
  /// One walk at a time: two would hide each other's messages.
  private let turn = Turn()

  private final class Turn: Sendable { let lock = Mutex(()) }

  init(_ broker: BrokerWiring, log: Log) {
    topology = broker.topology
    address = broker.address
    self.log = log
  }

  private struct Key: Hashable {
    let stage: String
    let reason: String
  }

  /// What the page shows of a reason.
  private static func reason(_ letter: DeadLetter) -> String {
    TokenFolding.fold(letter.foldedReason)
  }

  // MARK: Look

  /// - Throws: ``BrokerLost``.
  func look() throws -> JSONValue {
    var groups = DeadLetterGroups()
    var shown: [Key: [JSONValue]] = [:]
    var room = Self.textsBytesMax
    let unseen = try walk(stage: nil) { letter, stage in
      groups.add(letter, stage: stage)
      let key = Key(stage: stage, reason: letter.foldedReason)
      if shown[key, default: []].count < Self.shownMax, room > 0 {
        let text = Self.cut(ShownDeadLetter(letter, stage: stage, topology: topology).text)
        room -= text.utf8.count
        shown[key, default: []].append(["id": .string(letter.message.id), "text": .string(text)])
      }
      return .keep
    }.unseen
    let list = groups.sorted.map { group -> JSONValue in
      [
        "stage": .string(group.stage), "reason": .string(TokenFolding.fold(group.reason)),
        "count": .integer(Int64(group.count)),
        "first_failed_at": DeadLetterDesk.time(group.firstFailedAt),
        "last_failed_at": DeadLetterDesk.time(group.lastFailedAt),
        "shown": .array(shown[Key(stage: group.stage, reason: group.reason)] ?? []),
      ]
    }
    return ["groups": .array(list), "unseen": .integer(Int64(unseen))]
  }

  private static func cut(_ text: String) -> String {
    guard text.utf8.count > textBytesMax else { return text }
    return String(decoding: text.utf8.prefix(textBytesMax), as: UTF8.self)
      + "…\nlockstep dead show has the rest"
  }

  // MARK: Replay

  /// Sends back those of one stage and reason.
  ///
  /// - Throws: ``BrokerLost``, or ``CommandFailure`` when there is no such stage.
  func replay(stage: String, reason: String) throws -> JSONValue {
    let stages = topology.deadQueues.map(Self.owner)
    guard stages.contains(stage) else {
      throw CommandFailure(
        .noInput,
        "there is no stage \(stage.prefix(200)); there are: \(stages.joined(separator: ", "))")
    }
    var lost = 0
    let (report, _) = try walk(stage: stage) { letter, _ in
      guard Self.reason(letter) == reason else { return .keep }
      guard let origin = letter.origin(in: topology) else {
        lost += 1
        return .keep
      }
      return .replay(letter.replay(to: origin))
    }
    log.info(
      "replayed from the ops page",
      ["stage": stage, "reason": reason, "count": "\(report.replayed)"])
    return [
      "replayed": .integer(Int64(report.replayed)), "refused": .integer(Int64(report.refused)),
      "refusal": .text(report.refusal), "without_origin": .integer(Int64(lost)),
    ]
  }

  private static func owner(_ queue: Topology.Queue) -> String {
    if case .dead(let owner) = queue.purpose { owner } else { queue.name }
  }

  private func walk(
    stage: String?, _ decide: (DeadLetter, String) throws -> DeadQueueWalk.Verdict
  ) throws -> (report: DeadQueueWalk.Report, unseen: Int) {
    try turn.lock.withLock { _ in
      let walk = DeadQueueWalk(address, time: SystemTime(), log: log)
      defer { walk.close() }
      var all = DeadQueueWalk.Report()
      var unseen = 0
      for queue in topology.deadQueues {
        let owner = Self.owner(queue)
        guard stage == nil || stage == owner else { continue }
        let report = try walk.walk(queue.name, atMost: Self.lookedAtMax) { try decide($0, owner) }
        all.replayed += report.replayed
        all.refused += report.refused
        all.refusal = all.refusal ?? report.refusal
        unseen += max(0, report.depth - report.seen)
      }
      return (all, unseen)
    }
  }
}
