import Foundation
import HTTPServing
import Pipeline
import Sessions
import Vocabulary

extension API {
  private static let sessions = "/api/cook-suggest/sessions"
  /// The longest user id, in Unicode scalars.
  static let userIDMax = 128
  /// The longest JSON text of one participant's answers.
  static let answersBytesMax = 8 * 1024

  static let sessionRoutes: [Route] = [
    Route(.post, sessions) { try $0.createSession($1) },
    Route(.get, "\(sessions)/{id}", scopes: [.user, .service]) { $0.readSession($1) },
    Route(.post, "\(sessions)/{id}/join") { try $0.actWithoutFields($1, .join) },
    Route(.post, "\(sessions)/{id}/answers") { try $0.answer($1) },
    Route(.post, "\(sessions)/{id}/ready") { api, call in
      var body = try call.body()
      let ready = body.flag("ready")
      try body.finish()
      return api.act(call, .ready(ready))
    },
    Route(.post, "\(sessions)/{id}/pick") { try $0.actOnProposal($1, Mutation.pick) },
    Route(.post, "\(sessions)/{id}/confirm") { try $0.actOnProposal($1, Mutation.confirm) },
    Route(.post, "\(sessions)/{id}/leave") { try $0.actWithoutFields($1, .leave) },
    Route(.post, "\(sessions)/{id}/cancel") { try $0.actWithoutFields($1, .cancel) },
  ]

  private func createSession(_ call: Call) throws -> Work {
    var body = try call.body()
    let date = body.text("date", max: 40)
    let partner = body.optionalText("with_user_id", max: Self.userIDMax).map(UserID.init)
    try body.finish()
    return { rows in
      let me = call.caller.userID
      // Names are taken from the profiles now; a later change of profile does not rewrite sessions
      // that run.
      let profiles = try rows.profiles(of: [me] + (partner.map { [$0] } ?? []))
      let change: Change
      do throws(Refusal) {
        change = try Session.create(
          id: newSessionID(), date: date, initiator: profiles[me] ?? Profile(userID: me),
          partner: partner.map { profiles[$0] ?? Profile(userID: $0) }, at: call.now,
          limits: settings.session)
      } catch {
        throw Problem(error, session: nil)
      }
      let live = try rows.liveSessionCount(of: me)
      guard live < settings.liveSessionsPerUserMax else {
        throw Problem.tooManySessions(live: live, max: settings.liveSessionsPerUserMax)
      }
      try rows.save(change.session)
      let event = call.event(for: change)
      try rows.save(MutationRecord(change, event: event))
      let language = Language(locale: profiles[me]?.locale)
      var response = SessionAnswer(change.session, for: me, language: language).response(201)
      response.headers.append(("location", "\(Self.sessions)/\(change.session.id)"))
      return Answer(response, event: event)
    }
  }

  /// The kitchen may see every session, and then each participant's answers too.
  private func readSession(_ call: Call) -> Work {
    { rows in
      let caller = call.caller
      guard let session = try rows.session(SessionID(call.id)),
        session.participant(caller.userID) != nil || caller.scopes.contains(.service)
      else { throw Problem.noSuchSession() }
      let tag = Conditions.tag(rev: session.rev)
      if Conditions.isKnown(tag, to: call.request) {
        return Answer(HTTPResponse(status: 304, headers: [("etag", tag)]))
      }
      let answers =
        caller.scopes.contains(.service) ? try rows.answers(in: session.id) : nil
      let shown = SessionAnswer(
        session, for: caller.userID, language: try language(of: caller.userID, rows),
        answers: answers)
      return Answer(shown.response())
    }
  }

  private func actWithoutFields(_ call: Call, _ mutation: Mutation) throws -> Work {
    try call.expectNoFields()
    return act(call, mutation)
  }

  private func actOnProposal(
    _ call: Call, _ mutation: (ProposalID) -> Mutation
  ) throws -> Work {
    var body = try call.body()
    let proposal = body.text("proposal_id", max: Proposal.idMax)
    try body.finish()
    return act(call, mutation(ProposalID(proposal)))
  }

  private func answer(_ call: Call) throws -> Work {
    var body = try call.body()
    let answers = body.objectText("answers", bytesMax: Self.answersBytesMax)
    try body.finish()
    return act(call, .answer) { rows, session in
      try rows.saveAnswers(answers, of: call.caller.userID, in: session)
    }
  }
}

extension Problem {
  fileprivate static func tooManySessions(live: Int, max: Int) -> Problem {
    Problem(
      status: 429, name: "too-many-sessions", title: "Too many sessions",
      detail: "You take part in \(live) sessions that have not ended, at most \(max) are allowed;"
        + " leave or cancel one.",
      headers: [("retry-after", "60")])
  }
}
