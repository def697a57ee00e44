import Cryptography
import HTTPServing
import Pipeline
import Sessions
import Vocabulary

extension API {
  /// Does one mutation of a session, for a participant or the kitchen.
  ///
  /// When nothing changes the session is answered as it is, and no event is stored.
  /// `alongside` runs in the same transaction when the mutation changed something.
  func act(
    _ call: Call, _ mutation: Mutation, asKitchen: Bool = false,
    alongside: @escaping (any StoreTransaction, SessionID) throws -> Void = { _, _ in }
  ) -> Work {
    { rows in
      let me = call.caller.userID
      guard let session = try rows.session(SessionID(call.id)),
        asKitchen || session.participant(me) != nil
      else { throw Problem.noSuchSession() }
      let language = try language(of: me, rows)
      try check(call, against: SessionAnswer(session, for: me, language: language))
      let change: Change?
      do throws(Refusal) {
        change = try session.apply(
          mutation, by: asKitchen ? nil : me, at: call.now,
          newJobID: JobID("job_\(UUIDText.random())"), limits: settings.session)
      } catch {
        throw Problem(error, session: SessionAnswer(session, for: me, language: language))
      }
      guard let change else {
        return Answer(SessionAnswer(session, for: me, language: language).response())
      }
      try rows.save(change.session)
      try alongside(rows, session.id)
      let event = call.event(for: change)
      try rows.save(MutationRecord(change, event: event))
      return Answer(
        SessionAnswer(change.session, for: me, language: language).response(), event: event)
    }
  }

  /// - Throws: 412 when `If-Match` names another rev than the current one.
  private func check(
    _ call: Call, against answer: @autoclosure () -> SessionAnswer
  ) throws(Problem) {
    guard let field = call.request.header("if-match") else { return }
    let current = answer()
    if try Conditions.IfMatch(field).allows(current.session.rev) { return }
    throw Problem(
      status: 412, name: "changed-meanwhile", title: "Changed meanwhile",
      detail: "if-match is \(field.prefix(100)), the session's rev is \(current.session.rev).",
      headers: [("etag", current.tag)], session: current)
  }

  /// The language this user reads.
  func language(of user: UserID, _ rows: any StoreTransaction) throws -> Language {
    Language(locale: try rows.profiles(of: [user])[user]?.locale)
  }
}

extension Problem {
  /// Says the same of a session that is not there and of somebody else's.
  static func noSuchSession() -> Problem {
    notFound("There is no such session, or you take no part in it.")
  }

  /// What the domain refused; `session` is what a 409 shows, nil when there is none yet.
  init(_ refusal: Refusal, session: SessionAnswer?) {
    switch refusal {
    case .notParticipant:
      self = .noSuchSession()
    case .invalid(let pointer, let detail):
      self = .invalidFields([Field(pointer: pointer, detail: detail)])
    case .wrongState:
      self.init(conflict: "wrong-state", "Wrong state", refusal, session)
    case .ended:
      self.init(conflict: "session-ended", "Session ended", refusal, session)
    case .hasLeft:
      self.init(conflict: "left-session", "You left the session", refusal, session)
    }
  }

  private init(
    conflict name: String, _ title: String, _ refusal: Refusal, _ session: SessionAnswer?
  ) {
    self.init(
      status: 409, name: name, title: title,
      detail: refusal.detail.prefix(1).uppercased() + refusal.detail.dropFirst() + ".",
      headers: session.map { [("etag", $0.tag)] } ?? [], session: session)
  }
}
