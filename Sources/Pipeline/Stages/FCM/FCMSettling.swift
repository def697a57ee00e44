import Pushes
import ServiceRuntime
import Vocabulary

/// What the FCM sender does about answers: carries out remedies, and keeps one record per attempt.
extension FCMSender {
  /// Until a person has looked at a project that forgets all its phones.
  private static let waitWhileGuarded: Duration = .seconds(600)

  /// Carries out what the answers ask for, in one transaction.
  ///
  /// - Throws: ``StoreError``; then nothing has been stored and nothing has changed here.
  func settle(_ answers: [(Sending, FCMResult)]) throws -> [Settlement] {
    let now = time.now()
    let (guardBefore, alarmedBefore) = (massGuard, alarmed)
    do {
      let ends = try store.write { transaction in
        self.afterCommit = []
        let ends = try answers.map { sending, result in
          try end(of: sending, result, in: transaction, now: now)
        }
        try transaction.save(
          zip(answers, ends).map { record($0.0, $0.1.outcome, $1.consequence, now: now) })
        return ends
      }
      for tell in afterCommit { tell() }
      for (sending, result) in answers { trace(sending, result.outcome, now: now) }
      var again: [Sending] = []
      let settlements = zip(answers, ends).compactMap { answer, end -> Settlement? in
        guard let disposition = end.disposition else {
          var next = answer.0
          next.hasRenewedToken = true
          again.append(next)
          return nil
        }
        metrics.count(end.consequence.rawValue)
        return Settlement(answer.0.delivery, disposition, outgoing: end.outgoing)
      }
      waiting = again + waiting
      return settlements
    } catch {
      massGuard = guardBefore
      alarmed = alarmedBefore
      throw error
    }
  }

  private struct End {
    /// Nil: goes out again at once.
    let disposition: Disposition?
    let consequence: DeliveryRecord.Consequence
    var outgoing: [OutgoingMessage] = []
  }

  private func end(
    of sending: Sending, _ result: FCMResult, in transaction: any StoreTransaction, now: UnixTime
  ) throws -> End {
    switch result.outcome.remedy(hasRenewedToken: sending.hasRenewedToken) {
    case .done:
      massGuard.accepted(sending.job.token, now: now)
      alarmed = []
      afterCommit.append { [metrics] in
        metrics.criticalTime.observe((now - sending.job.causedAt).secondsAndFraction)
      }
      return End(
        disposition: .done, consequence: .accepted,
        outgoing: try accepted(sending.job, in: transaction, now: now))
    case .pruneUnlessMany(let reason):
      return try gone(sending, because: reason, in: transaction, now: now)
    case .renewToken:
      if let number = result.accessToken { carrier.renewAccessToken(refused: number) }
      return End(disposition: nil, consequence: .again)
    case .dead(let reason):
      return End(disposition: .dead(because: reason), consequence: .dead)
    case .incident(let reason, let wait):
      if alarm("FCM refuses the project or its credentials", because: reason) {
        afterCommit.append { [metrics] in metrics.incidents.add() }
      }
      return End(disposition: .retry(notBefore: wait, because: reason), consequence: .retried)
    case .retry(let least, let reason):
      return End(disposition: .retry(notBefore: least, because: reason), consequence: .retried)
    }
  }

  /// Notes what FCM has taken. When that is older than what another sender has delivered meanwhile,
  /// the newest state is made to go out once more: FCM keeps for a phone what came last.
  private func accepted(_ job: FCMJob, in transaction: any StoreTransaction, now: UnixTime) throws
    -> [OutgoingMessage]
  {
    let delivered = try transaction.raiseDeliveredRev(
      of: job.contextKey, to: job.token, rev: job.rev, at: now)
    guard delivered > job.rev,
      let newest = try transaction.activityStates([job.contextKey])[job.contextKey],
      let phone = try transaction.fcmRegistrations([job.token])[job.token],
      phone.userID == job.userID
    else { return [] }
    try transaction.forgetDeliveredRev(of: job.contextKey, to: job.token)
    return [pushes.carrying(newest.fcmJob(to: phone, isShown: true).message)]
  }

  /// Pruned only while the mass guard agrees: a project that forgets all its phones at once is ill,
  /// or we are.
  private func gone(
    _ sending: Sending, because reason: String, in transaction: any StoreTransaction,
    now: UnixTime
  ) throws -> End {
    let token = sending.job.token
    switch massGuard.refused(token, because: reason, now: now) {
    case .prune:
      let isPruned = try transaction.prune(
        token, because: reason, unlessRegisteredAfter: sending.sentAt, at: now)
      if isPruned {
        afterCommit.append { [log] in
          log.info("phone pruned", ["token": token.fingerprint, "because": reason])
        }
      }
      return End(disposition: .done, consequence: isPruned ? .pruned : .kept)
    case .stopPruning(let restore):
      let restored = try transaction.restore(restore, prunedBecause: reason)
      let words = "\(restore.count) phones answer \(reason); \(restored) restored"
      if alarm("pruning stopped: mass guard", because: words) {
        afterCommit.append { [metrics] in metrics.guardTrips.add() }
      }
      return End(
        disposition: .retry(notBefore: Self.waitWhileGuarded, because: words),
        consequence: .retried)
    }
  }

  /// One line per kind, until FCM takes something again.
  ///
  /// - Returns: whether it is new.
  private func alarm(_ words: String, because reason: String) -> Bool {
    guard alarmed.insert(words).inserted else { return false }
    afterCommit.append { [log] in
      log.error(
        words, ["because": reason, "do": "check the service account, the project and the clock"])
    }
    return true
  }

  private func record(
    _ sending: Sending, _ outcome: FCMOutcome, _ consequence: DeliveryRecord.Consequence,
    now: UnixTime
  ) -> DeliveryRecord {
    let job = sending.job
    let (status, reason): (Int?, String?) =
      switch outcome {
      case .answered(let answer): (answer.status, answer.reason)
      case .unanswered(let cause), .unauthorized(let cause): (nil, cause)
      }
    var wasSent = true
    if case .unauthorized = outcome { wasSent = false }
    return DeliveryRecord(
      jobID: job.id, sessionID: job.sessionID, userID: job.userID, contextKey: job.contextKey,
      rev: job.rev, tokenFingerprint: job.token.fingerprint, event: name.rawValue, status: status,
      reason: reason, attempt: sending.delivery.attempt, causedAt: job.causedAt, settledAt: now,
      wasSent: wasSent, consequence: consequence)
  }

  /// After the answer is stored. No token: its fingerprint is in the delivery record.
  private func trace(_ sending: Sending, _ outcome: FCMOutcome, now: UnixTime) {
    guard let traces else { return }
    var attributes: [String: Span.Value] = [
      "lockstep.push.event": .text(sending.job.event.rawValue)
    ]
    let failure: String?
    switch outcome {
    case .answered(let answer):
      attributes["http.response.status_code"] = .integer(answer.status)
      failure = answer.reason
    case .unanswered(let cause), .unauthorized(let cause): failure = cause
    }
    traces.answered(
      sending.delivery, nth: sending.sends, to: name.rawValue, begun: sending.sentAt, now: now,
      attributes, failure: failure)
  }
}
