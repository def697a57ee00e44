import Sessions
import Testing
import Vocabulary

private let actions: [Mutation] = [
  .join, .answer, .ready(true), .pick(pasta.id), .confirm(pasta.id), .leave, .cancel,
]

@Suite struct RefusalTests {
  @Test(
    arguments: [
      (
        Way.generating, Mutation.answer,
        "answers can change only while answering, the session is generating"
      ),
      (
        Way.generating, .ready(false),
        "ready can change only while answering, the session is generating"
      ),
      (Way.generating, .ready(true), nil), (Way.proposed, .answer, nil),
      (Way.proposed, .ready(true), nil), (Way.finalizing, .answer, nil),
      (Way.finalizing, .ready(false), nil),
      (
        [], .pick(pasta.id),
        "proposals can be picked and confirmed only while proposed, the session is answering"
      ),
      (Way.generating, .pick(pasta.id), nil), (Way.finalizing, .pick(pasta.id), nil),
      ([], .confirm(pasta.id), nil), (Way.generating, .confirm(pasta.id), nil),
      (Way.finalizing, .confirm(pasta.id), nil),
    ] as [([Step], Mutation, String?)])
  func `the wrong state is named`(way: [Step], mutation: Mutation, detail: String?) throws {
    let refusal = try #require(Planning(through: way).refusal(.by(dennis, mutation)))
    guard case .wrongState(let text) = refusal else {
      Issue.record("refused as \(refusal)")
      return
    }
    #expect(text == detail ?? text)
    #expect(refusal.detail == text)
  }

  @Test(arguments: actions)
  func `a stranger takes no part`(mutation: Mutation) throws {
    for way in [[], Way.proposed, Way.decided] {
      let planning = try Planning(through: way)
      #expect(planning.refusal(Step(actor: stranger, mutation: mutation)) == .notParticipant)
      #expect(planning.refusal(Step(actor: nil, mutation: mutation)) == .notParticipant)
    }
  }

  @Test(arguments: actions)
  func `a leaver cannot act`(mutation: Mutation) throws {
    for way in [[], Way.generating, Way.proposed] {
      let planning = try Planning(through: way + [.by(dennis, .leave)])
      #expect(planning.refusal(.by(dennis, mutation)) == .hasLeft)
    }
  }

  @Test(arguments: actions)
  func `an ended session cannot change`(mutation: Mutation) throws {
    let decided = try Planning(through: Way.decided)
    #expect(decided.refusal(.by(dennis, mutation)) == .ended(.decided))
    let cancelled = try Planning(through: Way.cancelled)
    #expect(cancelled.refusal(.by(jaqueline, mutation)) == .ended(.cancelled))
  }

  @Test(arguments: [
    "", "2026", "2026-6-18", "2026-02-29", "2026-13-01", "18.06.2026", "2026-06-18T00:00:00Z",
    "2026-06-18 ", "٢٠٢٦-٠٦-١٨",
  ])
  func `a day that does not exist is refused`(date: String) throws {
    let refusal = #expect(throws: Refusal.self) {
      try Session.create(
        id: SessionID("cs_abc"), date: date, initiator: dennis, partner: nil, at: start,
        limits: limits)
    }
    #expect(
      refusal == .invalid(pointer: "/date", detail: "date is \"\(date)\", want a day as YYYY-MM-DD")
    )
  }

  @Test func `a leap day is taken in a leap year`() throws {
    let change = try Session.create(
      id: SessionID("cs_abc"), date: "2028-02-29", initiator: dennis, partner: nil, at: start,
      limits: limits)
    #expect(change.session.date == "2028-02-29")
  }

  @Test func `nobody invites itself`() throws {
    let refusal = #expect(throws: Refusal.self) { try Planning(with: dennis) }
    #expect(
      refusal
        == .invalid(
          pointer: "/with_user_id", detail: "with_user_id is the caller, want another user"))
  }

  @Test func `a proposal of another session is refused by name`() throws {
    let planning = try Planning(through: Way.proposed)
    for mutation in [Mutation.pick(ProposalID("p9")), .confirm(ProposalID("p9"))] {
      #expect(
        planning.refusal(.by(dennis, mutation))
          == .invalid(
            pointer: "/proposal_id",
            detail: "proposal_id \"p9\" is none of this session's proposals"))
    }
  }

  @Test func `each refusal says why in plain English`() {
    #expect(
      Refusal.ended(.decided).detail == "the session is decided, nothing can change any more")
    #expect(Refusal.hasLeft.detail == "you have left this session and cannot act in it")
    #expect("\(Refusal.notParticipant)" == "you take no part in this session")
    #expect(Refusal.invalid(pointer: "/date", detail: "why").detail == "why")
  }
}
