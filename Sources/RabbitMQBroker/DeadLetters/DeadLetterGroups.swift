import Pipeline
import Vocabulary

/// Dead letters counted by queue and folded reason. Memory is bounded by the number of reasons.
package struct DeadLetterGroups: Sendable {
  package struct Group: Hashable, Sendable {
    /// The stage or plain queue it failed in, or `unroutable`.
    package let stage: String
    package let reason: String
    package fileprivate(set) var count: Int
    package fileprivate(set) var firstFailedAt: UnixTime?
    package fileprivate(set) var lastFailedAt: UnixTime?
  }

  /// Reasons beyond these are counted as one.
  static let groupsMax = 1000
  static let otherReasons = "(other reasons)"

  private struct Key: Hashable {
    let stage: String
    let reason: String
  }

  private var groups: [Key: Group] = [:]

  package init() {}

  package mutating func add(_ letter: DeadLetter, stage: String) {
    var key = Key(stage: stage, reason: letter.foldedReason)
    if groups[key] == nil, groups.count >= Self.groupsMax {
      key = Key(stage: stage, reason: Self.otherReasons)
    }
    var group = groups[key] ?? Group(stage: stage, reason: key.reason, count: 0)
    group.count += 1
    group.firstFailedAt = [group.firstFailedAt, letter.firstFailedAt].compactMap { $0 }.min()
    group.lastFailedAt = [group.lastFailedAt, letter.lastFailedAt].compactMap { $0 }.max()
    groups[key] = group
  }

  /// The most frequent first within each stage; stages by name.
  package var sorted: [Group] {
    groups.values.sorted { ($0.stage, -$0.count, $0.reason) < ($1.stage, -$1.count, $1.reason) }
  }
}
