import Sessions
import Testing
import Vocabulary

private func proposal(_ number: Int, title: String = "Suppe") -> Proposal {
  Proposal(id: ProposalID("p\(number)"), title: title)
}

private func proposals(_ count: Int) -> [Proposal] { (0..<count).map { proposal($0) } }

/// 200 characters; each more than one byte.
private let longestTitle = String(repeating: "ü", count: Proposal.titleMax)

private func refusal(ofProposals proposals: [Proposal]) throws -> Refusal? {
  try Planning(through: Way.generating).refusal(.kitchen(.proposals(job(3), proposals)))
}

private func refusal(ofDecision title: String) throws -> Refusal? {
  try Planning(through: Way.finalizing).refusal(.kitchen(.decision(job(6), title: title)))
}

@Suite struct KitchenTests {
  @Test(
    arguments: [
      // Another job, or none.
      (Way.generating, Mutation.proposals(job(99), dishes)),
      (Way.finalizing, .decision(job(99), title: "Suppe")),
      ([], .proposals(job(3), dishes)), ([], .decision(job(3), title: "Suppe")),
      // The right job in another state.
      (Way.generating, .decision(job(3), title: "Suppe")),
      (Way.finalizing, .proposals(job(6), dishes)),
      // Again.
      (Way.proposed, .proposals(job(3), [soup])),
      (Way.finalizing, .proposals(job(3), [soup])),
      (Way.decided, .decision(job(6), title: "Suppe")),
      // After the end.
      (Way.generating + [.by(dennis, .cancel)], .proposals(job(3), dishes)),
      (Way.finalizing + [.by(dennis, .cancel)], .decision(job(6), title: "Suppe")),
      // After the job's time.
      (Way.generating + [.kitchen(.jobTimedOut(job(3)))], .proposals(job(3), dishes)),
      (Way.finalizing + [.kitchen(.jobTimedOut(job(6)))], .decision(job(6), title: "Suppe")),
      // A time-out that comes late, again, or for another job.
      (Way.generating, .jobTimedOut(job(99))), (Way.proposed, .jobTimedOut(job(3))),
      (Way.decided, .jobTimedOut(job(6))), ([], .jobTimedOut(job(3))),
      (Way.generating + [.kitchen(.jobTimedOut(job(3)))], .jobTimedOut(job(3))),
      // Late and wrong is late.
      (Way.proposed, .proposals(job(3), [])),
    ] as [([Step], Mutation)])
  func `a late or repeated answer changes nothing`(way: [Step], mutation: Mutation) throws {
    var planning = try Planning(through: way)
    #expect(try planning.take(.kitchen(mutation)) == nil)
  }

  @Test func `the answers of the kitchen have no actor, whoever brings them`() throws {
    var planning = try Planning(through: Way.generating)
    let change = try planning.take(
      Step(actor: stranger, mutation: .proposals(job(3), dishes)))
    #expect(change?.actor == nil)
    #expect(change?.session.proposals == dishes)
  }

  @Test func `the limits of an answer are taken`() throws {
    #expect(try refusal(ofProposals: proposals(1)) == nil)
    #expect(try refusal(ofProposals: proposals(Proposal.countMax)) == nil)
    #expect(try refusal(ofProposals: [proposal(1, title: longestTitle)]) == nil)
    #expect(try refusal(ofProposals: [proposal(1, title: "a")]) == nil)
    let longestID = ProposalID(String(repeating: "x", count: Proposal.idMax))
    #expect(try refusal(ofProposals: [Proposal(id: longestID, title: "a")]) == nil)
    #expect(try refusal(ofDecision: longestTitle) == nil)
  }

  @Test(
    arguments: [
      ([], "/proposals", "proposals holds 0, want 1 to 50"),
      (proposals(51), "/proposals", "proposals holds 51, want 1 to 50"),
      (
        [proposal(1), proposal(2, title: longestTitle + "x")], "/proposals/1/title",
        "title has 201 characters, want at most 200"
      ),
      ([proposal(1, title: "")], "/proposals/0/title", "title is empty, want 1 to 200 characters"),
      (
        [proposal(1, title: " \n")], "/proposals/0/title",
        "title is empty, want 1 to 200 characters"
      ),
      ([proposal(1), proposal(1)], "/proposals/1/id", "id \"p1\" stands twice, want each once"),
      (
        [Proposal(id: ProposalID(""), title: "a")], "/proposals/0/id",
        "id has 0 bytes, want 1 to 100"
      ),
      (
        [Proposal(id: ProposalID(String(repeating: "x", count: 101)), title: "a")],
        "/proposals/0/id", "id has 101 bytes, want 1 to 100"
      ),
    ] as [([Proposal], String, String)])
  func `a wrong answer is refused with its field`(
    proposals: [Proposal], pointer: String, detail: String
  ) throws {
    #expect(
      try refusal(ofProposals: proposals) == .invalid(pointer: pointer, detail: detail))
  }

  @Test func `a wrong decision is refused with its field`() throws {
    #expect(
      try refusal(ofDecision: longestTitle + "x")
        == .invalid(pointer: "/title", detail: "title has 201 characters, want at most 200"))
    #expect(
      try refusal(ofDecision: "")
        == .invalid(pointer: "/title", detail: "title is empty, want 1 to 200 characters"))
  }

  @Test func `without proposals in time all are unready again`() throws {
    let session = try Planning(through: Way.generating + [.kitchen(.jobTimedOut(job(3)))]).session
    #expect(session.participants.map(\.ready) == [false, false])
    #expect(session.kitchenDidNotAnswer)
    #expect(session.jobInHand == nil)
  }

  @Test func `without a decision in time the confirmations are taken back, the picks stay`() throws
  {
    let session = try Planning(through: Way.finalizing + [.kitchen(.jobTimedOut(job(6)))]).session
    #expect(session.participants.map(\.confirmedProposalID) == [nil, nil])
    #expect(session.participants.map(\.pickProposalID) == [pasta.id, pasta.id])
    #expect(session.proposals == dishes)
    #expect(session.kitchenDidNotAnswer)
  }

  @Test func `the next change forgets the job that did not answer`() throws {
    var planning = try Planning(through: Way.generating + [.kitchen(.jobTimedOut(job(3)))])
    try planning.take(.by(dennis, .ready(true)))
    #expect(planning.session.job == nil)
    try planning.take(.by(jaqueline, .ready(true)))
    #expect(planning.session.jobInHand?.jobID == job(6))
  }

  @Test func `a job's time runs from the last change`() throws {
    let session = try Planning(through: Way.generating).session
    #expect(session.jobDeadline(limits) == session.updatedAt + limits.jobTime)
    #expect(try Planning().session.jobDeadline(limits) == nil)
    let timedOut = try Planning(through: Way.generating + [.kitchen(.jobTimedOut(job(3)))]).session
    #expect(timedOut.jobDeadline(limits) == nil)
  }
}
