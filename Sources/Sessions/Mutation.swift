import Vocabulary

/// What can be done to a session.
package enum Mutation: Hashable, Sendable {
  // By a participant.
  case join
  /// New answers; their text is kept beside the session. Counts as a change even when it is equal.
  case answer
  case ready(Bool)
  case pick(ProposalID)
  /// Also picks the proposal.
  case confirm(ProposalID)
  case leave
  case cancel

  // By the kitchen.
  case proposals(JobID, [Proposal])
  case decision(JobID, title: String)

  // By the clock.
  case expire
  case jobTimedOut(JobID)

  /// `cause.mutation` of the event.
  package var name: String {
    switch self {
    case .join: "join"
    case .answer: "answers"
    case .ready: "ready"
    case .pick: "pick"
    case .confirm: "confirm"
    case .leave: "leave"
    case .cancel: "cancel"
    case .proposals: "proposals"
    case .decision: "decision"
    case .expire: "expire"
    case .jobTimedOut: "job_timeout"
    }
  }

  /// The event when the state did not change.
  var eventType: SessionEventType {
    switch self {
    case .join: .joined
    case .answer: .answered
    case .ready: .readied
    case .pick: .picked
    case .confirm: .confirmed
    case .leave: .left
    case .proposals: .proposed
    case .decision: .decided
    case .cancel, .expire: .cancelled
    case .jobTimedOut: .readied
    }
  }
}
