import Vocabulary

/// How a session is told again under other names and at another time: what makes a recording safe
/// to share, and lets one file be played many times. Each member leaves as it is what nobody sets.
package struct Rewriting {
  package var session: (SessionID) -> SessionID = { $0 }
  package var user: (UserID) -> UserID = { $0 }
  package var job: (JobID) -> JobID = { $0 }
  package var proposal: (ProposalID) -> ProposalID = { $0 }
  /// What a participant is called; given whose name it is.
  package var name: (_ of: UserID, String) -> String = { $1 }
  package var tint: (_ of: UserID, String) -> String = { $1 }
  package var emoji: (_ of: UserID, String) -> String = { $1 }
  /// A dish's title.
  package var title: (String) -> String = { $0 }
  /// False drops what else the kitchen said of its proposals.
  package var keepsDetails = true
  /// All moments move by so much.
  package var shift: Duration = .zero

  package init() {}
}

extension Session {
  /// The same session, told otherwise; state, rev and who did what stay.
  package func rewritten(_ rewriting: Rewriting) -> Session {
    Session(
      id: rewriting.session(id), date: date, state: state, rev: rev,
      participants: participants.map { $0.rewritten(rewriting) },
      proposals: proposals.map { proposal in
        Proposal(
          id: rewriting.proposal(proposal.id), title: rewriting.title(proposal.title),
          details: rewriting.keepsDetails ? proposal.details : [:])
      },
      job: job.map { KitchenJob(jobID: rewriting.job($0.jobID), kind: $0.kind) },
      decidedTitle: decidedTitle.map(rewriting.title), createdAt: createdAt + rewriting.shift,
      updatedAt: (updatedAt + rewriting.shift).wholeSeconds,
      expiresAt: expiresAt + rewriting.shift, endReason: endReason)
  }
}

extension Participant {
  fileprivate func rewritten(_ rewriting: Rewriting) -> Participant {
    Participant(
      userID: rewriting.user(userID), name: name.map { rewriting.name(userID, $0) },
      tint: tint.map { rewriting.tint(userID, $0) },
      emoji: emoji.map { rewriting.emoji(userID, $0) }, status: status, ready: ready,
      pickProposalID: pickProposalID.map(rewriting.proposal),
      confirmedProposalID: confirmedProposalID.map(rewriting.proposal))
  }
}
