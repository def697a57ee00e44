import Vocabulary

extension Session {
  /// Begins a session: `date` is a day that exists, `YYYY-MM-DD`; without a `partner` to invite it
  /// is a solo session.
  ///
  /// - Returns: the change with rev 1.
  /// - Throws: ``Refusal/invalid(pointer:detail:)`` for `date` or `with_user_id`.
  package static func create(
    id: SessionID, date: String, initiator: Profile, partner: Profile?, at moment: UnixTime,
    limits: SessionLimits
  ) throws(Refusal) -> Change {
    guard isCalendarDay(date) else {
      throw .invalid(
        pointer: "/date", detail: "date is \"\(date.prefix(40))\", want a day as YYYY-MM-DD")
    }
    if let partner, partner.userID == initiator.userID {
      throw .invalid(
        pointer: "/with_user_id", detail: "with_user_id is the caller, want another user")
    }
    let session = Session(
      id: id, date: date, state: .answering, rev: 1,
      participants: [Participant(initiator, status: .joined)]
        + (partner.map { [Participant($0, status: .invited)] } ?? []),
      proposals: [], job: nil, decidedTitle: nil, createdAt: moment,
      updatedAt: moment.wholeSeconds,
      expiresAt: moment + min(limits.ttl, limits.lifeMax), endReason: nil)
    return Change(
      session: session, eventType: .created, mutationName: "create", actor: initiator.userID)
  }

  /// Does one mutation. `actor` is the participant who acts, not looked at for the kitchen and the
  /// clock; `newJobID` names the job, should this mutation start one.
  ///
  /// - Returns: nil when nothing changed: what was asked for is already so, or a late or repeated
  ///   answer of the kitchen.
  /// - Throws: ``Refusal``, and nothing has changed.
  package func apply(
    _ mutation: Mutation, by actor: UserID?, at moment: UnixTime, newJobID: JobID,
    limits: SessionLimits
  ) throws(Refusal) -> Change? {
    var next = self
    var actingUser: UserID?
    switch mutation {
    case .join, .answer, .ready, .pick, .confirm, .leave, .cancel:
      actingUser = actor
      try next.act(mutation, by: actor, newJobID: newJobID)
    case .proposals(let jobID, let proposals): try next.receive(proposals, for: jobID)
    case .decision(let jobID, let title): try next.receive(decision: title, for: jobID)
    case .jobTimedOut(let jobID): next.giveUp(jobID)
    case .expire: next.expire(at: moment)
    }
    guard next != self || mutation == .answer else { return nil }

    if case .jobTimedOut = mutation {} else { next.forgetJobThatDidNotAnswer() }
    next.stamp(moment, limits)
    return Change(
      session: next,
      eventType: next.state == state ? mutation.eventType : next.state.eventType,
      mutationName: mutation.name, actor: actingUser)
  }

  private mutating func stamp(_ moment: UnixTime, _ limits: SessionLimits) {
    rev += 1
    let moment = max(moment, updatedAt)
    updatedAt = moment.wholeSeconds
    // An ended session keeps the moment it would have expired: nothing expires it any more.
    if !state.isFinal { expiresAt = min(moment + limits.ttl, createdAt + limits.lifeMax) }
  }

  private mutating func expire(at moment: UnixTime) {
    if !state.isFinal, expiresAt <= moment { end(.cancelled, because: .ttl) }
  }

  /// Ends the session; no job is waited for any more.
  mutating func end(_ final: SessionState, because reason: EndReason) {
    state = final
    endReason = reason
    job = nil
  }
}

extension Participant {
  init(_ profile: Profile, status: Status) {
    self.init(
      userID: profile.userID, name: profile.name, tint: profile.tint, emoji: profile.emoji,
      status: status, ready: false, pickProposalID: nil, confirmedProposalID: nil)
  }
}

extension SessionState {
  /// The event of a mutation that led to this state.
  fileprivate var eventType: SessionEventType {
    switch self {
    // Only a job's time-out leads back here, and takes back everybody's ready.
    case .answering: .readied
    case .generating: .generating
    case .proposed: .proposed
    case .finalizing: .finalizing
    case .decided: .decided
    case .cancelled: .cancelled
    }
  }
}

extension UnixTime {
  /// The contract's form has no fraction; what is kept must read back as it was.
  var wholeSeconds: UnixTime { UnixTime(seconds: seconds) }
}

/// Whether `text` is `YYYY-MM-DD` and that day exists.
func isCalendarDay(_ text: String) -> Bool {
  text.utf8.count == 10 && UnixTime("\(text)T00:00:00Z") != nil
}
