import Pushes
import ServiceRuntime
import Vocabulary

/// What the sender does about answers: carries out remedies, and keeps one record per attempt.
extension APNsSender {
  /// Sends of one visit at most, when nobody answers: once, and twice at once on other connections.
  private static let sendsPerVisitMax = 3
  private static let waitWithoutAnswer: Duration = .seconds(5)
  /// How long a start without an answer is left alone: had it arrived, the phone would have
  /// registered its card by then. A second card would stay for hours.
  private static let waitForCard: Duration = .seconds(25)

  /// What becomes of a job: nil when it goes out again without having been settled.
  private typealias Settled = (
    settlement: Settlement?, consequence: DeliveryRecord.Consequence
  )

  /// Carries out what the answers ask for and records what was dropped, in one transaction; in
  /// none when there is nothing to store.
  ///
  /// - Throws: ``StoreError``; then nothing has been stored and nothing has changed here.
  func settle(_ answers: [(Sending, PushOutcome)], _ drops: [Drop]) throws -> [Settlement] {
    let now = time.now()
    let dropRecords = drops.compactMap { record($0, now: now) }
    guard !answers.isEmpty || !dropRecords.isEmpty else { return drops.map(\.settlement) }
    let before = memory
    let rulings = rulings(on: answers, now: now)
    var again: [Sending] = []
    do {
      let settlements = try store.write { transaction in
        again = []
        self.memory = before
        self.afterCommit = []
        var records = dropRecords
        let repairs = try drops.map { try repairing($0, in: transaction) }
        let newest = try raiseDeliveredRevs(answers, in: transaction)
        let settlements = try answers.indices.compactMap { place in
          let (sending, outcome) = answers[place]
          let settled = try settle(
            sending, outcome, rulings[place], newest[place], &again, in: transaction, now: now)
          records.append(record(sending, outcome, settled.consequence, now: now))
          if let earlier = recordOfEarlierSender(sending, outcome, now: now) {
            records.append(earlier)
          }
          return settled.settlement
        }
        try transaction.save(records)
        return zip(drops, repairs).map { $0.settlement.causing($1) } + settlements
      }
      for tell in afterCommit { tell(metrics) }
      for (sending, outcome) in answers {
        metrics.count(sending, outcome, now: now)
        trace(sending, outcome, now: now)
        if sending.job.event == .start, outcome.remedy(sending.circumstances) == .done {
          starts.accepted(sending.job.token, now: now)
        }
      }
      metrics.lanes.show(memory.lanes)
      laneBoard.show(memory.lanes, of: name)
      // What an open lane refused goes last, so that the next probe is another token's.
      let refused = again.filter { memory.lanes.isOpen($0.lane) }
      waiting = again.filter { !memory.lanes.isOpen($0.lane) } + waiting + refused
      return settlements
    } catch {
      memory = before
      throw error
    }
  }

  /// What the mass guards say, by the answer's place. Asked once for a batch, before the store may
  /// do it again: what they were told is not taken back, as a copy of the guards for each batch
  /// would cost more than the pushes. What was accepted is told first.
  private func rulings(on answers: [(Sending, PushOutcome)], now: UnixTime) -> [Int:
    MassGuard<PushToken>.Ruling]
  {
    for (sending, outcome) in answers where outcome.remedy(sending.circumstances) == .done {
      guards[sending.lane, default: MassGuard()].accepted(sending.job.token, now: now)
    }
    var rulings: [Int: MassGuard<PushToken>.Ruling] = [:]
    for (place, (sending, outcome)) in answers.enumerated() {
      guard case .pruneTokenUnlessMany(let reason) = outcome.remedy(sending.circumstances) else {
        continue
      }
      // What was refused on both lanes says nothing of the other one: there it was a guest.
      rulings[place] = guards[sending.atHome.lane, default: MassGuard()].refused(
        sending.job.token, because: reason, now: now)
    }
    return rulings
  }

  private func settle(
    _ sending: Sending, _ outcome: PushOutcome, _ ruling: MassGuard<PushToken>.Ruling?,
    _ newest: Int?, _ again: inout [Sending], in transaction: any StoreTransaction, now: UnixTime
  ) throws -> Settled {
    let job = sending.job
    let remedy = outcome.remedy(sending.circumstances)
    if !outcome.isServiceFault {
      memory.breakers[sending.lane, default: FailureBreaker()].succeeded(now: now)
    }
    if remedy != .done, job.event == .start {
      let until = outcome.mayHaveArrived ? now + Self.waitForCard : nil
      try transaction.claimStart(of: job.sessionID, token: job.token, until: until)
      // Without an answer a card may be there all the same.
      if !outcome.mayHaveArrived {
        try transaction.uncountCard(of: job.sessionID, token: job.token)
      }
    }
    if !remedy.decidesLane { memory.lanes.undecided(on: sending.lane, now: now) }
    let overtaken = try takingBackAgain(unanswered: sending, outcome, in: transaction, now: now)
    if let first = overtaken.first {
      return (
        Settlement(
          sending.delivery,
          .retry(notBefore: Self.waitWithoutAnswer, because: "what takes it back came first"),
          outgoing: [first]), .retried
      )
    }
    switch remedy {
    case .done:
      try accepted(sending, in: transaction, now: now)
      let outgoing =
        try takingBack(acceptedLate: sending, in: transaction, now: now)
        + repairing(acceptedLate: sending, newest: newest, in: transaction)
      return (settlement(ofAccepted: sending, outgoing: outgoing), .accepted)
    case .pruneToken(let reason, let diedAt):
      let moment = min(diedAt ?? sending.sentAt, sending.sentAt)
      let pruned = try prune(
        job.token, because: reason, unlessRegisteredAfter: moment, in: transaction)
      if pruned > 0 { try markGone(job, in: transaction, now: now) }
      return (Settlement(sending.delivery, .done), pruned > 0 ? .pruned : .kept)
    case .pruneTokenUnlessMany(let reason):
      guard let ruling else { preconditionFailure("the guards rule on every such answer") }
      return try refused(
        sending, outcome, ruling, because: reason, &again, in: transaction, now: now)
    case .tryOtherEnvironment:
      again.append(sending.inOtherEnvironment)
      return (nil, .again)
    case .dead(let reason): return (Settlement(sending.delivery, .dead(because: reason)), .dead)
    case .openLane(let reason):
      openLane(sending.lane, because: reason, outcome, now: now)
      again.append(sending)
      return (nil, .laneOpened)
    case .renewProviderToken where sending.renewedProviderToken:
      openLane(
        sending.lane, because: "403 ExpiredProviderToken with a fresh token", outcome, now: now)
      again.append(sending)
      return (nil, .laneOpened)
    case .renewProviderToken:
      again.append(sending.withRenewedProviderToken)
      return (nil, .again)
    case .sendAgain(let reason) where job.event == .start && outcome.mayHaveArrived:
      return later(sending, outcome, notBefore: Self.waitForCard, because: reason, now: now)
    case .sendAgain where sending.delivery.attempt == 1 && sending.sends < Self.sendsPerVisitMax:
      again.append(outcome.mayHaveArrived ? sending.unheard : sending)
      return (nil, .again)
    case .sendAgain(let reason):
      return later(
        sending, outcome, notBefore: Self.waitWithoutAnswer, because: reason, now: now)
    case .retry(let least, let reason):
      return later(sending, outcome, notBefore: least, because: reason, now: now)
    }
  }

  private func accepted(
    _ sending: Sending, in transaction: any StoreTransaction, now: UnixTime
  ) throws {
    let job = sending.job
    if memory.lanes.accepted(on: sending.lane) {
      let fields: KeyValuePairs = [
        "topic": sending.topic, "environment": sending.environment.rawValue,
      ]
      afterCommit.append { [log] _ in log.info("lane closed", fields) }
    }
    if !sending.isProven {
      try transaction.moveToken(job.token, to: sending.environment)
      try transaction.markProven(job.token, at: now)
    }
    if job.event == .start {
      try transaction.acceptStart(of: job.sessionID, token: job.token, at: now)
    }
  }

  /// Refused in a way that good tokens are refused too when a topic is wrong: pruned only while the
  /// mass guard agrees.
  private func refused(
    _ sending: Sending, _ outcome: PushOutcome, _ ruling: MassGuard<PushToken>.Ruling,
    because reason: String, _ again: inout [Sending], in transaction: any StoreTransaction,
    now: UnixTime
  ) throws -> Settled {
    let token = sending.job.token
    let home = sending.atHome
    switch ruling {
    case .prune:
      // Not marked as gone: the guard may restore it.
      let pruned = try prune(
        token, because: reason, unlessRegisteredAfter: sending.sentAt, in: transaction)
      memory.prunedJobs.note(sending.delivery, of: token, now: now)
      return (Settlement(sending.delivery, .done), pruned > 0 ? .pruned : .kept)
    case .stopPruning(let restore):
      let restored = try transaction.restore(restore, prunedBecause: reason)
      if !memory.lanes.isOpen(home.lane) { afterCommit.append { $0.guardTrips.add() } }
      openLane(
        home.lane, because: "\(restore.count) tokens answer \(reason); \(restored) restored",
        outcome, now: now)
      let stillDue = memory.prunedJobs.take(of: restore).map(pushes.carrying)
      guard stillDue.isEmpty else {
        let wait = memory.lanes.parkTime(on: home.lane, now: now)
        return (
          Settlement(sending.delivery, .park(notBefore: wait), outgoing: stillDue), .laneOpened
        )
      }
      again.append(home)
      return (nil, .laneOpened)
    }
  }

  private func prune(
    _ token: PushToken, because reason: String, unlessRegisteredAfter moment: UnixTime,
    in transaction: any StoreTransaction
  ) throws -> Int {
    let pruned = try transaction.prune(
      token, because: reason, unlessRegisteredAfter: moment)
    guard pruned > 0 else { return 0 }
    afterCommit.append { [log] metrics in
      metrics.pruned(pruned, because: reason)
      log.info("token pruned", ["token": token.fingerprint, "because": reason])
    }
    return pruned
  }

  /// An update token that died with its activity: without another one, the card is gone. Nothing is
  /// started in its place: there is at most one start per session and token, and whether the person
  /// took the card away or iOS did, APNs does not say. A phone that has one registers its token.
  private func markGone(
    _ job: PushJob, in transaction: any StoreTransaction, now: UnixTime
  ) throws {
    guard job.event == .update || job.event == .end, let context = job.contextKey,
      try transaction.updateTokens(of: [context]).isEmpty
    else { return }
    try transaction.save(
      PhoneReport(
        contextKey: context, userID: job.userID, state: .gone, rev: nil, reportedAt: now))
  }

  /// The ladder; while the service as a whole fails, a rung without counting an attempt.
  private func later(
    _ sending: Sending, _ outcome: PushOutcome, notBefore least: Duration, because reason: String,
    now: UnixTime
  ) -> Settled {
    let lane = sending.lane
    let retry = Settlement(sending.delivery, .retry(notBefore: least, because: reason))
    guard outcome.isServiceFault else { return (retry, .retried) }
    let trips = memory.breakers[lane, default: FailureBreaker()].failed(now: now)
    if trips { openLane(lane, because: "most pushes fail: \(reason)", outcome, now: now) }
    guard memory.lanes.isOpen(lane) else { return (retry, .retried) }
    let parked = Disposition.park(
      notBefore: least, mayHaveGoneOut: outcome.mayHaveArrived || sending.isUnheard)
    return (Settlement(sending.delivery, parked), .laneOpened)
  }

  private func openLane(
    _ lane: Lane, because cause: String, _ outcome: PushOutcome, now: UnixTime
  ) {
    var reason = cause
    // With a clock that is off every provider token is refused, however right the key.
    if case .answered(let answer) = outcome, answer.status == 403,
      let skew = ClockSkew(of: answer, now: now)
    {
      reason += "; \(skew)"
    }
    guard memory.lanes.open(lane, because: reason, now: now) else { return }
    afterCommit.append { [log, reason] _ in
      log.error(
        "lane open: nothing is sent but a probe",
        [
          "environment": lane.service.rawValue, "topic": lane.topic, "because": reason,
          "do":
            "check APNs' own status, the provider key, its team, the bundle id, the environment",
        ])
    }
  }

  func record(
    _ sending: Sending, _ outcome: PushOutcome, _ consequence: DeliveryRecord.Consequence?,
    now: UnixTime
  ) -> DeliveryRecord {
    let job = sending.job
    let (status, reason) =
      switch outcome {
      case .answered(let answer): (Optional(answer.status), answer.reason)
      case .neverProcessed(let cause), .unanswered(let cause): (nil, cause)
      }
    return DeliveryRecord(
      jobID: job.id, sessionID: job.sessionID, userID: job.userID, contextKey: job.contextKey,
      rev: job.rev, tokenFingerprint: job.token.fingerprint, event: job.event.rawValue,
      status: status, reason: reason, attempt: sending.delivery.attempt, causedAt: job.causedAt,
      settledAt: now, consequence: consequence)
  }
}
