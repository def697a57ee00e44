import Foundation
import Pipeline
import Vocabulary

/// A queue that is not as queues.yaml expects: what is wrong and what to do, in one line.
package struct QueueTrouble: Hashable, Sendable, CustomStringConvertible {
  /// The row's owner.
  package let owner: String
  /// `12000 wait, at most 10000 are expected`.
  package let wrong: String
  /// `start payload-builder`.
  package let advice: String

  package var description: String { "\(owner): \(wrong). \(advice)" }
}

extension QueueBoard {
  /// What is wrong, one trouble per queue or dead queue, what stops everything first.
  ///
  /// `reader`: who reads the queue of an owner, for people: `apns-sender`.
  package func troubles(reader: (String) -> String) -> [QueueTrouble] {
    rows.flatMap { row in
      [row.trouble(reader: reader(row.owner)), row.deadTrouble].compactMap { trouble in
        trouble.map { (row: row, trouble: $0) }
      }
    }.sorted { $0.row.urgency > $1.row.urgency }.map(\.trouble)
  }
}

extension QueueBoard.Row {
  private var expectation: Topology.Expectation { queue.expectation }

  /// The sort is stable: within the same urgency the order is that of queues.yaml.
  fileprivate var urgency: Int { !exists ? 2 : consumers == 0 && isUnread ? 1 : 0 }

  private var isUnread: Bool {
    guard let least = expectation.minConsumers, let consumers else { return false }
    // Where the stage is switched off nothing is sent to it.
    if expectation.isOptional, depth ?? 0 == 0 { return false }
    return consumers < least
  }

  private var isTooDeep: Bool {
    guard let most = expectation.maxDepth, let depth else { return false }
    return depth > most
  }

  /// Only what is certain counts.
  private var isTooOld: Bool {
    guard let most = expectation.maxAge, let oldest else { return false }
    return oldest.atLeast > most
  }

  fileprivate func trouble(reader: String) -> QueueTrouble? {
    guard exists else {
      return QueueTrouble(
        owner: owner, wrong: "queue \(queue.name) is missing",
        advice: "Run lockstep topology apply")
    }
    guard isUnread || isTooDeep || isTooOld else { return nil }
    if queue.purpose == .unroutable {
      return QueueTrouble(
        owner: owner,
        wrong: depth == 1
          ? "1 event that no queue took" : "\(depth ?? 0) events that no queue took",
        advice: "See lockstep dead list --stage \(owner), and lockstep topology plan")
    }
    return QueueTrouble(owner: owner, wrong: wrong, advice: advice(reader))
  }

  private var wrong: String {
    var parts: [String] = []
    if isUnread, let consumers, let least = expectation.minConsumers {
      let readers = consumers == 0 ? "nobody reads it" : "only \(consumers) read it"
      parts.append("\(readers), at least \(least) expected")
    }
    if isTooDeep, let depth, let most = expectation.maxDepth {
      parts.append("\(depth) wait, at most \(most) expected")
    } else if isUnread, let depth, depth > 0 {
      parts.append("\(depth) wait")
    }
    if isTooOld, let oldest, let most = expectation.maxAge {
      parts.append(
        "the oldest has waited at least \(Spans.text(oldest.atLeast)), "
          + "at most \(Spans.text(most)) expected")
    }
    return parts.joined(separator: "; ")
  }

  private func advice(_ reader: String) -> String {
    if isUnread { return consumers == 0 ? "Start \(reader)" : "Start more of \(reader)" }
    guard let rates else { return "Look at /readyz of \(reader), or start more of it" }
    if rates.leaving == 0 {
      return "Its readers finish nothing: look at /readyz and the log of \(reader)"
    }
    let surplus = rates.arriving - rates.leaving
    if surplus > 0 {
      let more = wanted.map { ", \($0) in all" } ?? ""
      return "It grows by \(Self.rate(surplus))/s: start more of \(reader)\(more)"
    }
    let end = Double(depth ?? 0) / max(-surplus, rates.leaving / 100)
    return "It drains, in about \(Spans.text(.seconds(end))); more of \(reader) would be faster"
  }

  /// How many readers what waits is worth.
  private var wanted: Int? {
    guard let each = expectation.messagesPerWorker, let depth, let consumers else { return nil }
    let count = (depth + each - 1) / each
    return count > consumers ? count : nil
  }

  fileprivate var deadTrouble: QueueTrouble? {
    guard let dead, let most = dead.queue.expectation.maxDepth, dead.depth > most else {
      return nil
    }
    let expected = most == 0 ? "" : ", at most \(most) expected"
    let count = dead.depth == 1 ? "1 dead letter" : "\(dead.depth) dead letters"
    return QueueTrouble(
      owner: owner, wrong: count + expected,
      advice: "See lockstep dead list --stage \(owner)")
  }

  /// With one digit where it is small.
  package static func rate(_ perSecond: Double) -> String {
    perSecond == 0 || perSecond >= 10
      ? "\(Int(perSecond.rounded()))" : String(format: "%.1f", perSecond)
  }
}
