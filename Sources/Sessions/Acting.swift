import Vocabulary

// What participants do. Each function works on a copy that is thrown away when it refuses.
extension Session {
  mutating func act(_ mutation: Mutation, by actor: UserID?, newJobID: JobID) throws(Refusal) {
    guard let place = participants.firstIndex(where: { $0.userID == actor }) else {
      throw .notParticipant
    }
    guard participants[place].isPresent else { throw .hasLeft }
    guard !state.isFinal else { throw .ended(state) }
    participants[place].status = .joined

    switch mutation {
    case .answer:
      try require(.answering, for: "answers can change")
    case .ready(let ready):
      try require(.answering, for: "ready can change")
      participants[place].ready = ready
    case .pick(let proposal):
      try pick(proposal, by: place)
    case .confirm(let proposal):
      try pick(proposal, by: place)
      participants[place].confirmedProposalID = proposal
    case .leave:
      leave(place)
    case .cancel:
      end(.cancelled, because: .cancelled)
    case .join, .proposals, .decision, .expire, .jobTimedOut:
      break
    }
    startJobIfAgreed(newJobID)
  }

  private func require(_ wanted: SessionState, for what: String) throws(Refusal) {
    guard state == wanted else {
      throw .wrongState(
        detail: "\(what) only while \(wanted.rawValue), the session is \(state.rawValue)")
    }
  }

  private mutating func pick(_ proposal: ProposalID, by place: Int) throws(Refusal) {
    try require(.proposed, for: "proposals can be picked and confirmed")
    guard proposals.contains(where: { $0.id == proposal }) else {
      throw .invalid(
        pointer: "/proposal_id",
        detail: "proposal_id \"\(proposal.text.prefix(40))\" is none of this session's proposals")
    }
    participants[place].pickProposalID = proposal
    if participants[place].confirmedProposalID != proposal {
      participants[place].confirmedProposalID = nil
    }
  }

  private mutating func leave(_ place: Int) {
    participants[place].status = .left
    participants[place].pickProposalID = nil
    participants[place].confirmedProposalID = nil
    if present.isEmpty { end(.cancelled, because: .left) }
  }

  /// Goes on to the kitchen when all who are present are ready, or confirm the same.
  private mutating func startJobIfAgreed(_ newJobID: JobID) {
    if state == .answering, present.allSatisfy(\.ready) {
      start(KitchenJob(jobID: newJobID, kind: .proposals), in: .generating)
    } else if state == .proposed, let first = present.first?.confirmedProposalID,
      present.allSatisfy({ $0.confirmedProposalID == first })
    {
      start(KitchenJob(jobID: newJobID, kind: .decision), in: .finalizing)
    }
  }

  private mutating func start(_ job: KitchenJob, in state: SessionState) {
    self.state = state
    self.job = job
    forgetLeaversReady()
  }
}
