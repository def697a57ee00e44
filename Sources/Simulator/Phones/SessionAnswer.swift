import ActivityContracts
import Foundation
import Vocabulary

/// What `GET` on a session answers, as far as a phone's app reads it.
package struct SessionAnswer: Hashable, Sendable, Decodable {
  package struct Participant: Hashable, Sendable, Decodable {
    package let userID: UserID
    package let name: String?
    package let tint: String?
    package let emoji: String?
    /// `invited`, `joined` or `left`.
    package let status: String

    enum CodingKeys: String, CodingKey {
      case userID = "user_id"
      case name, tint, emoji, status
    }
  }

  package let id: SessionID
  package let date: String
  package let state: String
  package let rev: Int
  package let participants: [Participant]
  package let decidedTitle: String?
  package let updatedAt: String?
  package let expiresAt: UnixTime?
  package let statusLabel: String
  package let deepLinkStep: String?
  package let proposalCount: Int
  package let partnerPickTitle: String?
  package let partnerReady: Bool
  package let ended: Bool?

  enum CodingKeys: String, CodingKey {
    case id, date, state, rev, participants, ended
    case decidedTitle = "decided_title"
    case updatedAt = "updated_at"
    case expiresAt = "expires_at"
    case statusLabel = "status_label"
    case deepLinkStep = "deep_link_step"
    case proposalCount = "proposal_count"
    case partnerPickTitle = "partner_pick_title"
    case partnerReady = "partner_ready"
  }

  package var isFinal: Bool { state == "decided" || state == "cancelled" }

  /// What a card must show when it shows the truth.
  package var contentState: CookSuggestActivityAttributes.ContentState {
    CookSuggestActivityAttributes.ContentState(
      state: state, statusLabel: statusLabel, deepLinkStep: deepLinkStep,
      proposalCount: proposalCount, partnerPickTitle: partnerPickTitle, partnerReady: partnerReady,
      decidedTitle: decidedTitle, updatedAt: updatedAt, rev: rev, ended: ended == true ? true : nil)
  }

  /// The same as the JSON that a card of it holds.
  package var shown: JSONValue { .plain(contentState) }

  /// What the app of `user` starts its own card with.
  package func attributes(for user: UserID) -> CookSuggestActivityAttributes {
    let partner = participants.first { $0.userID != user && $0.status != "left" }
    return CookSuggestActivityAttributes(
      sessionId: id.text, date: date, partnerName: partner?.name, partnerTint: partner?.tint,
      partnerEmoji: partner?.emoji)
  }
}

/// One of the caller's own activities, as `GET /api/activities` answers.
package struct OwnActivityAnswer: Hashable, Sendable, Decodable {
  package let key: String
  package let contextKey: ContextKey
  package let attributesType: String
  package let attributes: JSONValue
  /// `live` or `ended`.
  package let state: String
  package let contentState: JSONValue

  enum CodingKeys: String, CodingKey {
    case key = "activity_key"
    case contextKey = "context_key"
    case attributesType = "attributes_type"
    case attributes, state
    case contentState = "content_state"
  }

  /// The body of the answer.
  package struct List: Hashable, Sendable, Decodable {
    package let activities: [OwnActivityAnswer]
  }
}
