/// A name for one kind of thing, so that a session's id cannot be passed where a user's is wanted.
///
/// `Kind` is only a label; it is never made.
package struct Identifier<Kind>: Hashable, Sendable, Comparable, CustomStringConvertible {
  package let text: String

  package init(_ text: String) { self.text = text }

  package var description: String { text }

  /// In every byte, as whoever gave the id and the stores compare it. Strings are also equal when
  /// they only look alike, `é` and `e` with an accent behind it: that would be two users as one.
  package static func == (left: Self, right: Self) -> Bool { left.text.isSame(as: right.text) }

  package static func < (left: Self, right: Self) -> Bool { left.text.isBefore(right.text) }
}

extension Identifier: Codable {
  /// The longest id that is read, in UTF-8 bytes: far above those of ours, while two in one key
  /// are still short enough for an index of every store, and a few for a message's headers.
  package static var bytesMax: Int { 1200 }

  /// - Throws: `DecodingError`, also for an id that is longer than ``bytesMax``.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    text = try container.decode(String.self)
    let count = text.utf8.count
    guard count <= Self.bytesMax else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\(count) bytes, want at most \(Self.bytesMax)")
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

package enum UserKind {}
package enum SessionKind {}
package enum ProposalKind {}
package enum JobKind {}
package enum EventKind {}

/// Who somebody is: the `sub` of a caller's token.
package typealias UserID = Identifier<UserKind>
/// Names a session, `cs_…` for a cook session.
package typealias SessionID = Identifier<SessionKind>
/// Names one proposal within its session.
package typealias ProposalID = Identifier<ProposalKind>
/// Names one job given to the kitchen: the fence that a late answer fails at.
package typealias JobID = Identifier<JobKind>
/// Names one event: a UUIDv7, also the AMQP `message_id`.
package typealias EventID = Identifier<EventKind>

package enum ContextKind {}
/// Names one Live Activity: one participant's view of one session,
/// `cooksuggest:{session}:{user}`. Every update token belongs to one.
package typealias ContextKey = Identifier<ContextKind>
