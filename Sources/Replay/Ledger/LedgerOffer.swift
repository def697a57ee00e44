import Activities
import Cryptography
import Pipeline
import Sessions
import Vocabulary

extension Ledger {
  /// One event as those it names should see it.
  package struct Offer: Hashable, Sendable {
    struct Viewer: Hashable, Sendable {
      let user: UserID
      /// The rev of its newest state; below the event's when that is none of its business.
      let rev: Int
      /// Nothing after its rev is due to who is not.
      let isPresent: Bool
      /// What its card should show; nil where the card tells its rev itself.
      let state: String?
    }

    package let id: SessionID
    let rev: Int
    let isFinal: Bool
    /// The attributes type of an activity; nil for a cook session.
    let app: String?
    let viewers: [Viewer]

    /// Nil for a session of one, of which nobody has a card.
    package init?(_ session: Session) {
      guard !session.isSolo else { return nil }
      id = session.id
      rev = session.rev
      isFinal = session.state.isFinal
      app = nil
      viewers = session.participants.map {
        Viewer(user: $0.userID, rev: session.rev, isPresent: $0.isPresent, state: nil)
      }
    }

    package init(_ activity: Activity) {
      id = activity.sessionID
      rev = activity.rev
      isFinal = activity.state == .ended
      app = activity.attributesType
      viewers = activity.recipients.map {
        Viewer(
          user: $0.userID, rev: $0.rev, isPresent: $0.isPresent,
          state: Self.digest(of: $0.contentState))
      }
    }

    /// As the simulator tells a content state: 16 digits.
    package static func digest(of state: JSONValue) -> String {
      Digest.sha256(state.encoded).hex(digits: 16)
    }
  }
}

extension Ledger.Entry {
  /// The newest rev that this participant should see.
  func last(of participant: Ledger.Participant) -> Int {
    if let leftAt = participant.leftAt { return leftAt }
    guard !participant.notDue.isEmpty else { return newest }
    return revs.keys.filter { !participant.notDue.contains($0) }.max() ?? 0
  }

  /// The revs that this participant should have seen, in no order.
  func due(of participant: Ledger.Participant) -> [Int] {
    let last = last(of: participant)
    return revs.keys.filter { $0 <= last && !participant.notDue.contains($0) }
  }

  /// Which rev a push to a card of an activity brings: the state tells, and two states that are
  /// equal are the same to who looks at them. Nil for a state of no event.
  func rev(of sighting: Ledger.Sighting, to participant: Ledger.Participant) -> Int? {
    guard isActivity else { return sighting.rev }
    guard let state = sighting.state, let revs = participant.states[state] else { return nil }
    if sighting.kind == .end { return revs.max() }
    // The end mostly shows what was shown last.
    let end = isFinal || participant.leftAt != nil ? last(of: participant) : nil
    let open = revs.filter { $0 != end }
    return open.filter { $0 >= participant.newest }.min() ?? open.max() ?? revs.max()
  }
}
