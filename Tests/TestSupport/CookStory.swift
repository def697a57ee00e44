import Cryptography
import Foundation
import Pipeline
import Pushes
import Sessions
import Vocabulary

/// One cook session as it goes on: each mutation makes a rev and the event that tells of it, as the
/// API writes it into the outbox.
package struct CookStory {
  package private(set) var session: Session
  /// One per rev, oldest first.
  package private(set) var events: [OutboxEvent] = []
  /// What the API records of them.
  package private(set) var mutations: [MutationRecord] = []
  private let limits = SessionLimits()

  /// Dennis begins; Mara is invited unless he is alone.
  package init(
    id: String = "cs_1", initiator: Profile = Samples.dennis, partner: Profile? = Samples.mara,
    at moment: UnixTime = Samples.noon
  ) throws {
    let change = try Session.create(
      id: SessionID(id), date: "2026-06-18", initiator: initiator, partner: partner, at: moment,
      limits: limits)
    session = change.session
    append(change, at: moment)
  }

  /// The newest event.
  package var last: OutboxEvent { events[events.count - 1] }

  package func context(_ profile: Profile) -> ContextKey {
    session.contextKey(for: profile.userID)
  }

  /// Does one mutation, a second after the one before unless told when.
  ///
  /// - Returns: its event.
  @discardableResult
  package mutating func go(
    _ mutation: Mutation, by actor: Profile? = nil, at moment: UnixTime? = nil
  ) throws -> OutboxEvent {
    let moment = moment ?? last.storedAt + .seconds(1)
    let job = JobID("job_\(session.rev)")
    let change = try session.apply(
      mutation, by: actor?.userID, at: moment, newJobID: job, limits: limits)
    guard let change else { throw NothingChanged(mutation: mutation) }
    session = change.session
    append(change, at: moment)
    return last
  }

  /// Both are ready, the kitchen answers with two proposals.
  package mutating func goToProposed() throws {
    try go(.ready(true), by: Samples.dennis)
    try go(.ready(true), by: Samples.mara)
    guard let job = session.job else { throw NothingChanged(mutation: .ready(true)) }
    try go(
      .proposals(
        job.jobID,
        [
          Proposal(id: ProposalID("p_1"), title: "Linsen-Dal"),
          Proposal(id: ProposalID("p_2"), title: "Flammkuchen"),
        ]))
  }

  /// Both confirm the first proposal, the kitchen decides.
  package mutating func goToDecided() throws {
    try go(.confirm(ProposalID("p_1")), by: Samples.dennis)
    try go(.confirm(ProposalID("p_1")), by: Samples.mara)
    guard let job = session.job else { throw NothingChanged(mutation: .confirm(ProposalID("p_1"))) }
    try go(.decision(job.jobID, title: "Linsen-Dal"))
  }

  private mutating func append(_ change: Change, at moment: UnixTime) {
    let id = EventID(UUIDText.named(["event", change.session.id.text, "\(change.session.rev)"]))
    let event = Event.outboxEntry(for: change, id: id, at: moment, traceparent: nil)
    events.append(event)
    mutations.append(MutationRecord(change, event: event))
  }

  package struct NothingChanged: Error {
    package let mutation: Mutation
  }
}

extension Event {
  /// The event of a token that a phone registered.
  package static func registered(_ registration: Registration, at moment: UnixTime) -> OutboxEvent {
    outboxEntry(
      registered: registration,
      id: EventID(
        UUIDText.named(["registered", registration.token.hex, "\(moment.milliseconds)"])),
      at: moment, traceparent: nil)
  }
}
