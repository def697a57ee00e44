import Sessions
import Testing
import Vocabulary

/// One row of the table of transitions.
struct Transition: Sendable {
  let way: [Step]
  let step: Step
  let state: SessionState
  let event: SessionEventType
  let name: String

  init(
    _ way: [Step], _ step: Step, _ state: SessionState, _ event: SessionEventType, _ name: String
  ) {
    self.way = way
    self.step = step
    self.state = state
    self.event = event
    self.name = name
  }
}

private let oneConfirmed = Way.proposed + [.by(dennis, .confirm(pasta.id))]

private let transitions: [Transition] = [
  .init([], .by(jaqueline, .join), .answering, .joined, "join"),
  .init([], .by(dennis, .answer), .answering, .answered, "answers"),
  .init([], .by(jaqueline, .answer), .answering, .answered, "answers"),
  .init([.by(dennis, .answer)], .by(dennis, .answer), .answering, .answered, "answers"),
  .init([], .by(dennis, .ready(true)), .answering, .readied, "ready"),
  .init(
    [.by(dennis, .ready(true))], .by(dennis, .ready(false)), .answering, .readied, "ready"),
  .init(
    [.by(dennis, .ready(true))], .by(jaqueline, .ready(true)), .generating, .generating, "ready"),
  .init(
    Way.generating, .kitchen(.proposals(job(3), dishes)), .proposed, .proposed, "proposals"),
  .init(Way.proposed, .by(dennis, .pick(pasta.id)), .proposed, .picked, "pick"),
  .init(Way.proposed, .by(dennis, .confirm(pasta.id)), .proposed, .confirmed, "confirm"),
  .init(oneConfirmed, .by(jaqueline, .confirm(curry.id)), .proposed, .confirmed, "confirm"),
  .init(oneConfirmed, .by(jaqueline, .confirm(pasta.id)), .finalizing, .finalizing, "confirm"),
  .init(
    Way.finalizing, .kitchen(.decision(job(6), title: "Pasta")), .decided, .decided, "decision"),
  .init([], .by(dennis, .leave), .answering, .left, "leave"),
  .init(
    [.by(dennis, .ready(true))], .by(jaqueline, .leave), .generating, .generating, "leave"),
  .init(Way.generating, .by(dennis, .leave), .generating, .left, "leave"),
  .init(Way.proposed, .by(dennis, .leave), .proposed, .left, "leave"),
  .init(oneConfirmed, .by(jaqueline, .leave), .finalizing, .finalizing, "leave"),
  .init(oneConfirmed, .by(dennis, .leave), .proposed, .left, "leave"),
  .init(Way.finalizing, .by(dennis, .leave), .finalizing, .left, "leave"),
  .init([.by(dennis, .leave)], .by(jaqueline, .leave), .cancelled, .cancelled, "leave"),
  .init([], .by(dennis, .cancel), .cancelled, .cancelled, "cancel"),
  .init([], .by(jaqueline, .cancel), .cancelled, .cancelled, "cancel"),
  .init(Way.generating, .by(dennis, .cancel), .cancelled, .cancelled, "cancel"),
  .init(Way.proposed, .by(dennis, .cancel), .cancelled, .cancelled, "cancel"),
  .init(Way.finalizing, .by(dennis, .cancel), .cancelled, .cancelled, "cancel"),
  .init(Way.generating, .kitchen(.jobTimedOut(job(3))), .answering, .readied, "job_timeout"),
  .init(Way.finalizing, .kitchen(.jobTimedOut(job(6))), .proposed, .proposed, "job_timeout"),
]

@Suite struct TransitionTests {
  @Test(arguments: transitions)
  func `a change leads to its state with its event`(row: Transition) throws {
    var planning = try Planning(through: row.way)
    let before = planning.session
    let change = try #require(try planning.take(row.step))
    #expect(change.session.state == row.state)
    #expect(change.eventType == row.event)
    #expect(change.mutationName == row.name)
    #expect(change.actor == row.step.actor)
    #expect(change.session.rev == before.rev + 1)
    #expect(change.session.id == before.id)
    #expect(change.session.createdAt == before.createdAt)
    let waitsForKitchen = row.state == .generating || row.state == .finalizing
    #expect((change.session.jobInHand != nil) == waitsForKitchen)
  }

  @Test func `a new session waits for its invited partner's answers`() throws {
    let change = try Planning().last
    #expect(change.eventType == .created)
    #expect(change.mutationName == "create")
    #expect(change.actor == dennis.userID)
    let session = change.session
    #expect(session.rev == 1)
    #expect(session.state == .answering)
    #expect(session.participants.map(\.status) == [.joined, .invited])
    #expect(session.participants.map(\.name) == ["Dennis", "Jaqueline"])
    #expect(session.participants.map(\.tint) == ["teal", "coral"])
    #expect(session.participants.map(\.emoji) == ["🦊", "🐠"])
    #expect(session.initiator?.userID == dennis.userID)
    #expect(session.invited.map(\.userID) == [jaqueline.userID])
    #expect(!session.isSolo)
    #expect(session.endReason == nil)
  }

  @Test(arguments: [
    Mutation.join, .answer, .ready(true), .ready(false),
  ])
  func `any action of an invited partner joins it`(mutation: Mutation) throws {
    let planning = try Planning(through: [.by(jaqueline, mutation)])
    #expect(planning.session.participant(jaqueline.userID)?.status == .joined)
  }

  @Test(arguments: [
    ([Step.by(jaqueline, .join)], Step.by(jaqueline, .join)),
    ([], .by(dennis, .join)),
    ([], .by(dennis, .ready(false))),
    ([.by(dennis, .ready(true))], .by(dennis, .ready(true))),
    (Way.proposed + [.by(dennis, .pick(pasta.id))], .by(dennis, .pick(pasta.id))),
    (Way.proposed + [.by(dennis, .confirm(pasta.id))], .by(dennis, .confirm(pasta.id))),
    (Way.proposed + [.by(dennis, .confirm(pasta.id))], .by(dennis, .pick(pasta.id))),
  ])
  func `what is already so changes nothing`(way: [Step], step: Step) throws {
    var planning = try Planning(through: way)
    #expect(try planning.take(step) == nil)
  }

  @Test func `an invited partner who is not ready holds the kitchen back`() throws {
    let planning = try Planning(through: [.by(dennis, .ready(true))])
    #expect(planning.session.state == .answering)
  }

  @Test func `confirming counts as picking, picking another takes the confirmation back`() throws {
    var planning = try Planning(through: Way.proposed + [.by(dennis, .confirm(pasta.id))])
    #expect(planning.session.participant(dennis.userID)?.pickProposalID == pasta.id)
    try planning.take(.by(dennis, .pick(curry.id)))
    let me = try #require(planning.session.participant(dennis.userID))
    #expect(me.pickProposalID == curry.id)
    #expect(me.confirmedProposalID == nil)
    try planning.take(.by(jaqueline, .confirm(pasta.id)))
    #expect(planning.session.state == .proposed)
  }

  @Test func `jobs get the new id and their kind`() throws {
    let generating = try Planning(through: Way.generating).session
    #expect(generating.job?.jobID == job(3))
    #expect(generating.job?.kind == .proposals)
    let finalizing = try Planning(through: Way.finalizing).session
    #expect(finalizing.job?.jobID == job(6))
    #expect(finalizing.job?.kind == .decision)
    #expect(try Planning(through: Way.proposed).session.job == nil)
    #expect(try Planning(through: Way.decided).session.job == nil)
  }

  @Test func `the end says why`() throws {
    #expect(try Planning(through: Way.decided).session.endReason == .decided)
    #expect(try Planning(through: Way.decided).session.decidedTitle == "Pasta al limone")
    #expect(try Planning(through: Way.cancelled).session.endReason == .cancelled)
    let left = try Planning(through: [.by(jaqueline, .leave), .by(dennis, .leave)]).session
    #expect(left.endReason == .left)
  }

  @Test func `a leaver's pick and confirmation go with it`() throws {
    let planning = try Planning(
      through: Way.proposed + [.by(jaqueline, .confirm(curry.id)), .by(jaqueline, .leave)])
    let leaver = try #require(planning.session.participant(jaqueline.userID))
    #expect(leaver.status == .left)
    #expect(leaver.pickProposalID == nil)
    #expect(leaver.confirmedProposalID == nil)
    #expect(planning.session.present.map(\.userID) == [dennis.userID])
  }

  @Test func `alone, each agreement is one's own`() throws {
    let planning = try Planning(
      with: nil,
      through: [
        .by(dennis, .ready(true)), .kitchen(.proposals(job(2), dishes)),
        .by(dennis, .pick(curry.id)), .by(dennis, .confirm(curry.id)),
        .kitchen(.decision(job(5), title: "Linsencurry")),
      ])
    #expect(planning.session.state == .decided)
    #expect(planning.session.isSolo)
  }

  @Test func `leaving alone cancels`() throws {
    let planning = try Planning(with: nil, through: [.by(dennis, .leave)])
    #expect(planning.session.state == .cancelled)
    #expect(planning.session.endReason == .left)
  }
}
