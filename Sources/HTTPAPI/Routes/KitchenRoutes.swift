import Sessions
import Vocabulary

extension API {
  private static let jobIDMax = 100

  /// What the kitchen answers. A late or repeated answer changes nothing and is still answered 200
  /// with the session as it is: the kitchen has nothing left to do about it.
  static let kitchenRoutes: [Route] = [
    Route(.post, "/api/cook-suggest/sessions/{id}/proposals", scopes: [.service]) {
      try $0.takeProposals($1)
    },
    Route(.post, "/api/cook-suggest/sessions/{id}/decision", scopes: [.service]) {
      try $0.takeDecision($1)
    },
  ]

  private func takeProposals(_ call: Call) throws -> Work {
    var body = try call.body()
    let job = JobID(body.text("job_id", max: Self.jobIDMax))
    let given = body.objects("proposals")
    if given.count > Proposal.countMax {
      body.refuse("proposals", "holds \(given.count), want 1 to \(Proposal.countMax)")
    }
    var proposals: [Proposal] = []
    for (members, pointer) in given.prefix(Proposal.countMax) {
      var item = BodyReader(members, at: pointer)
      let id = item.text("id", max: Proposal.idMax)
      let title = item.text("title", max: Proposal.titleMax)
      // Whatever else the kitchen says of a proposal is passed on as it is.
      proposals.append(Proposal(id: ProposalID(id), title: title, details: item.takeRest()))
      body.adopt(item)
    }
    try body.finish()
    return act(call, .proposals(job, proposals), asKitchen: true)
  }

  private func takeDecision(_ call: Call) throws -> Work {
    var body = try call.body()
    let job = JobID(body.text("job_id", max: Self.jobIDMax))
    let title = body.text("title", max: Proposal.titleMax)
    try body.finish()
    return act(call, .decision(job, title: title), asKitchen: true)
  }
}
