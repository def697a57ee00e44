import ActivityContracts
import Cryptography
import Vocabulary

/// A card that a phone's app starts itself, with what it shows.
struct OwnCard: Decodable {
  let attributes: CookSuggestActivityAttributes
  let contentState: CookSuggestActivityAttributes.ContentState
  let staleAt: UnixTime?

  enum CodingKeys: String, CodingKey {
    case attributes
    case contentState = "content_state"
    case staleAt = "stale_at"
  }
}

/// What many phones show, for who compares thousands of them.
struct BriefCards: Encodable {
  struct Card: Encodable {
    let phone: String
    let session: String
    /// 0 for a contract without one.
    let rev: Int
    /// What tells states of other contracts apart; nil for the cook session's.
    let state: String?
    let standing: LockScreenCard.Standing
  }

  /// Phones that were looked at; 0 when there are no more.
  let phones: Int
  let cards: [Card]

  /// Of `limit` phones, beginning with the phone at place `from` in the order they were added.
  init(of fleet: Fleet, from: Int, limit: Int) {
    let ids = fleet.phoneIDs.dropFirst(from).prefix(max(0, limit))
    phones = ids.count
    cards = ids.compactMap { fleet.phones[$0] }.flatMap { phone in
      phone.cards.map {
        Card(
          phone: phone.identity.id, session: $0.sessionID.text, rev: $0.rev ?? 0,
          state: phone.identity.app.isCook ? nil : $0.contentState.stateDigest,
          standing: $0.standing)
      }
    }
  }
}

extension JSONValue {
  /// The first 16 digits of a content state's SHA-256: equal for states that look alike.
  var stateDigest: String { Digest.sha256(encoded).hex(digits: 16) }
}

/// Counts of the whole fleet.
struct Tally: Encodable {
  let phones: Int
  /// Requests to the stand-in for APNs, by what came of them.
  let pushes: [String: Int]
  /// The number of the newest one; 0 before the first.
  let newestPush: Int
  let complaintCount: Int
  let complaints: [Complaint]
  /// Calls of phones that the API has not heard yet.
  let callsWaiting: Int

  enum CodingKeys: String, CodingKey {
    case phones, pushes
    case newestPush = "newest_push"
    case complaintCount = "complaint_count"
    case complaints
    case callsWaiting = "calls_waiting"
  }

  init(of fleet: Fleet, callsWaiting: Int) {
    phones = fleet.phones.count
    pushes = fleet.pushCounts
    newestPush = fleet.pushes.last?.number ?? 0
    complaintCount = fleet.complaintCount
    complaints = fleet.complaints
    self.callsWaiting = callsWaiting
  }
}
