import Vocabulary

/// One cook session: several people plan one meal. The whole truth about it, from nobody's point
/// of view; what one of them sees is a ``Viewpoint``.
package struct Session: Hashable, Sendable {
  package let id: SessionID
  /// The day that is planned, `YYYY-MM-DD`.
  package let date: String
  package internal(set) var state: SessionState
  /// Counts the mutations that changed anything, from 1.
  package internal(set) var rev: Int
  /// The initiator first, then the invited partner.
  package internal(set) var participants: [Participant]
  package internal(set) var proposals: [Proposal]
  /// What the kitchen is asked for while `generating` and `finalizing`. Back in `answering` or
  /// `proposed` it is the job that did not answer in time.
  package internal(set) var job: KitchenJob?
  package internal(set) var decidedTitle: String?
  package let createdAt: UnixTime
  package internal(set) var updatedAt: UnixTime
  package internal(set) var expiresAt: UnixTime
  package internal(set) var endReason: EndReason?
}

extension Session {
  /// Who began it; nil only in an event that another program wrote without participants.
  package var initiator: Participant? { participants.first }

  /// Those who came by invitation; none in a solo session.
  package var invited: ArraySlice<Participant> { participants.dropFirst() }

  /// Only the initiator ever took part: nothing is pushed.
  package var isSolo: Bool { participants.count <= 1 }

  /// Those who have not left.
  package var present: [Participant] { participants.filter(\.isPresent) }

  /// Nil for somebody who takes no part.
  package func participant(_ user: UserID) -> Participant? {
    participants.first { $0.userID == user }
  }
}

/// How far a session is.
package enum SessionState: String, Codable, Hashable, Sendable, CaseIterable {
  case answering, generating, proposed, finalizing, decided, cancelled

  /// Decided or cancelled: nothing changes any more.
  package var isFinal: Bool { self == .decided || self == .cancelled }
}

/// Why a session ended.
package enum EndReason: String, Codable, Hashable, Sendable, CaseIterable {
  case decided, cancelled, left, ttl
}

/// One of those who plan the meal.
package struct Participant: Hashable, Sendable {
  package enum Status: String, Codable, Hashable, Sendable, CaseIterable {
    case invited, joined, left
  }

  package let userID: UserID
  package internal(set) var name: String?
  package internal(set) var tint: String?
  package internal(set) var emoji: String?
  package internal(set) var status: Status
  package internal(set) var ready: Bool
  package internal(set) var pickProposalID: ProposalID?
  package internal(set) var confirmedProposalID: ProposalID?

  /// Not left. An invited partner counts, or the card that push-to-start put on its phone would go
  /// stale.
  package var isPresent: Bool { status != .left }
}

/// What the kitchen is asked for, and the fence that its answer must name.
package struct KitchenJob: Hashable, Sendable, Codable {
  package enum Kind: String, Codable, Hashable, Sendable, CaseIterable { case proposals, decision }

  enum CodingKeys: String, CodingKey {
    case jobID = "job_id"
    case kind
  }

  package let jobID: JobID
  package let kind: Kind
}
