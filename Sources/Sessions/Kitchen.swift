import Vocabulary

// What the kitchen answers, and what happens when it does not. An answer to any job but the one in
// hand changes nothing.
extension Session {
  /// When the job in hand counts as not answered: its time, from the last change of the session.
  /// Nil when the kitchen has nothing to do.
  package func jobDeadline(_ limits: SessionLimits) -> UnixTime? {
    jobInHand.map { _ in updatedAt + limits.jobTime }
  }

  /// The job that the kitchen is working on.
  package var jobInHand: KitchenJob? {
    state == .generating || state == .finalizing ? job : nil
  }

  /// The kitchen let its time pass, and nothing has happened since.
  package var kitchenDidNotAnswer: Bool {
    job != nil && (state == .answering || state == .proposed)
  }

  mutating func receive(_ proposals: [Proposal], for jobID: JobID) throws(Refusal) {
    guard state == .generating, job?.jobID == jobID else { return }
    try Proposal.check(proposals)
    self.proposals = proposals
    state = .proposed
    job = nil
    forgetLeaversReady()
  }

  mutating func receive(decision title: String, for jobID: JobID) throws(Refusal) {
    guard state == .finalizing, job?.jobID == jobID else { return }
    try Proposal.check(title: title, pointer: "/title")
    decidedTitle = title
    end(.decided, because: .decided)
  }

  /// Goes back one state. `job` stays, as the one that did not answer, until the next change.
  mutating func giveUp(_ jobID: JobID) {
    guard jobInHand?.jobID == jobID else { return }
    if state == .generating {
      state = .answering
      for place in participants.indices { participants[place].ready = false }
    } else {
      state = .proposed
      for place in participants.indices { participants[place].confirmedProposalID = nil }
    }
  }

  mutating func forgetJobThatDidNotAnswer() {
    if kitchenDidNotAnswer { job = nil }
  }

  /// A leaver's `ready` is kept until the session's next step: while it stands in `proposed`, the
  /// partner left after the proposals came, and the label says so.
  mutating func forgetLeaversReady() {
    for place in participants.indices where !participants[place].isPresent {
      participants[place].ready = false
    }
  }
}
