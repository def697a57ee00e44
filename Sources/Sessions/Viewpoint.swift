import ActivityContracts
import Vocabulary

/// A session as one participant sees it.
package struct Viewpoint: Hashable, Sendable {
  package let session: Session
  package let userID: UserID
  package let language: Language

  package init(of session: Session, for userID: UserID, language: Language) {
    self.session = session
    self.userID = userID
    self.language = language
  }

  /// The other participant who is present; nil when there is nobody left to be the partner.
  package var partner: Participant? {
    session.participants.first { $0.userID != userID && $0.isPresent }
  }

  /// The viewer; nil for somebody who takes no part.
  package var me: Participant? { session.participant(userID) }

  /// For this viewer it is over, though the session may go on without it.
  package var hasLeft: Bool { me?.isPresent != true }

  /// True once it is over for this viewer, else nil.
  package var ended: Bool? { hasLeft || session.state.isFinal ? true : nil }

  /// A leaver's card is a cancelled one, whatever becomes of the session.
  package var state: SessionState { hasLeft ? .cancelled : session.state }

  package var partnerReady: Bool { !hasLeft && partner?.ready == true }

  package var partnerPickTitle: String? {
    guard !hasLeft, let pick = partner?.pickProposalID else { return nil }
    return session.proposals.first { $0.id == pick }?.title
  }

  /// Where a tap on the card leads; nil for the session itself.
  package var deepLinkStep: String? {
    guard !hasLeft, let me else { return nil }
    switch session.state {
    case .answering: return me.ready ? nil : "answers"
    case .proposed:
      if me.confirmedProposalID != nil { return nil }
      return partnerPickTitle == nil ? "proposals" : "confirm"
    case .generating, .finalizing, .decided, .cancelled: return nil
    }
  }

  package var contentState: CookSuggestActivityAttributes.ContentState {
    .init(
      state: state.rawValue, statusLabel: statusLabel, deepLinkStep: deepLinkStep,
      proposalCount: session.proposals.count, partnerPickTitle: partnerPickTitle,
      partnerReady: partnerReady, decidedTitle: hasLeft ? nil : session.decidedTitle,
      updatedAt: session.updatedAt.contractForm, rev: session.rev, ended: ended)
  }

  package var attributes: CookSuggestActivityAttributes {
    let partner = hasLeft ? nil : partner
    return .init(
      sessionId: session.id.text, date: session.date, partnerName: partner?.name,
      partnerTint: partner?.tint, partnerEmoji: partner?.emoji)
  }
}

// MARK: The label

extension Viewpoint {
  /// One line in the viewer's language.
  package var statusLabel: String {
    let labels = language.labels
    if hasLeft { return labels.planningEnded }
    switch session.state {
    case .answering: return answeringLabel(labels)
    case .generating: return labels.kitchenThinks
    case .proposed: return proposedLabel(labels)
    case .finalizing: return labels.beingServed
    case .decided: return session.decidedTitle ?? labels.planningEnded
    case .cancelled: return labels.planningEnded
    }
  }

  private func answeringLabel(_ labels: Labels) -> String {
    if session.kitchenDidNotAnswer { return labels.kitchenDoesNotAnswer }
    if let partner {
      switch partner.status {
      case .invited: return labels.partnerIsInvited(partner.name)
      case .joined where partner.ready: return labels.partnerIsReady(partner.name)
      case .joined, .left: return labels.partnerIsAnswering(partner.name)
      }
    }
    return leaver.map { labels.partnerLeft($0.name) } ?? labels.youAreAnswering
  }

  private func proposedLabel(_ labels: Labels) -> String {
    if session.kitchenDidNotAnswer { return labels.kitchenDoesNotAnswer }
    if let title = partnerPickTitle, me?.confirmedProposalID == nil {
      return labels.partnerPicked.filled("{title}", title)
    }
    if let partner, me?.pickProposalID != nil { return labels.waitingForPartner(partner.name) }
    // Who left before the proposals came has had its label while answering.
    if partner == nil, let leaver, leaver.ready { return labels.partnerLeft(leaver.name) }
    return labels.proposalsReady(session.proposals.count)
  }

  private var leaver: Participant? {
    session.participants.first { $0.userID != userID && !$0.isPresent }
  }
}

extension Session {
  package func contentState(
    for user: UserID, language: Language
  ) -> CookSuggestActivityAttributes.ContentState {
    Viewpoint(of: self, for: user, language: language).contentState
  }

  package func attributes(for user: UserID) -> CookSuggestActivityAttributes {
    // No text of the attributes depends on the language.
    Viewpoint(of: self, for: user, language: .german).attributes
  }

  /// Names this participant's card.
  package func contextKey(for user: UserID) -> ContextKey {
    ContextKey(CookSuggestActivityAttributes.contextKey(sessionID: id.text, userID: user.text))
  }
}
