import Pushes
import ServiceRuntime
import Vocabulary

/// What the Web Push sender does about answers: carries out remedies, and keeps one record per
/// attempt.
extension WebPushSender {
  /// Until a person has looked at a host that forgets all its subscriptions.
  private static let waitWhileGuarded: Duration = .seconds(600)
  /// Guards kept at most: hosts are few, but a wildcard lets strangers name some.
  private static let guardsMax = 1000

  func settleDecided() throws -> (settlements: [Settlement], again: [Sending]) {
    let now = time.now()
    let answers = queue.answered
    if guards.count > Self.guardsMax { guards = [:] }
    let guardsBefore = guards
    let alarmedBefore = alarmed
    let tokensBefore = tokens
    var ends: [End] = []
    do {
      if !answers.isEmpty {
        ends = try store.write { transaction in
          // The store may do it again from the beginning.
          (guards, alarmed, tokens, afterCommit) = (
            guardsBefore, alarmedBefore, tokensBefore, []
          )
          let ends = try answers.map { sending, outcome in
            try end(of: sending, outcome, in: transaction, now: now)
          }
          try transaction.save(
            answers.compactMap { sending, outcome in record(sending, outcome, now: now) })
          return ends
        }
        for tell in afterCommit { tell() }
      }
    } catch {
      guards = guardsBefore
      alarmed = alarmedBefore
      tokens = tokensBefore
      throw error
    }
    for (sending, outcome) in answers { trace(sending, outcome, now: now) }
    var settlements = queue.dropped.map { sending, disposition in
      count(disposition.outcome)
      return Settlement(sending.delivery, disposition)
    }
    var again: [Sending] = []
    for (answer, end) in zip(answers, ends) {
      switch end {
      case .again(let next): again.append(next)
      case .settled(let disposition, let outcome):
        count(outcome ?? disposition.outcome)
        settlements.append(Settlement(answer.sending.delivery, disposition))
      }
    }
    return (settlements, again)
  }

  private enum End {
    case again(Sending)
    /// `as`: the `outcome` label it is counted under; nil: the disposition's own.
    case settled(Disposition, as: String?)
  }

  private func end(
    of sending: Sending, _ outcome: WebPushOutcome, in transaction: any StoreTransaction,
    now: UnixTime
  ) throws -> End {
    guard let (subscription, key) = sending.target else {
      preconditionFailure("what was answered was sent")
    }
    let host = subscription.endpoint.host
    var next = sending
    switch outcome.remedy(isShort: sending.isShort, hasRenewedToken: sending.hasRenewedToken) {
    case .done:
      guards[host, default: MassGuard()].accepted(subscription.id, now: now)
      alarmed[host] = nil
      return .settled(.done, as: "accepted")
    case .pruneUnlessMany(let reason):
      return try gone(subscription, because: reason, in: transaction, now: now)
    case .markResubscribe(let reason):
      if try transaction.markResubscribe(subscription, at: now) {
        afterCommit.append { [log] in
          log.warning(
            "subscription must be made anew",
            ["subscription": subscription.fingerprint, "host": host, "because": reason])
        }
      }
      return .settled(.done, as: "resubscribe")
    case .sendShortForm(let reason):
      guard let short = WebPushPayload.shortForm(of: sending.payload) else {
        return .settled(.dead(because: reason), as: nil)
      }
      next.payload = short
      next.isShort = true
      return .again(next)
    case .renewToken(let reason):
      alarm(host, "VAPID token refused", because: reason)
      next.hasRenewedToken = true
      if tokens.refused(by: subscription.endpoint, key: key, now: now, elapsed: time.elapsed()) {
        return .again(next)
      }
      // A young token would be the same again: on with the answer to a renewed one.
      return try end(of: next, outcome, in: transaction, now: now)
    case .dead(let reason): return .settled(.dead(because: reason), as: nil)
    case .retry(let least, let reason):
      return .settled(.retry(notBefore: least, because: reason), as: nil)
    }
  }

  /// Pruned only while the mass guard agrees: a host that forgets all its subscriptions at once is
  /// ill, or we are.
  private func gone(
    _ subscription: WebPushSubscription, because reason: String,
    in transaction: any StoreTransaction, now: UnixTime
  ) throws -> End {
    let host = subscription.endpoint.host
    switch guards[host, default: MassGuard()].refused(subscription.id, because: reason, now: now) {
    case .prune:
      if try transaction.prune(subscription, because: reason, at: now) {
        afterCommit.append { [log] in
          log.info(
            "subscription pruned",
            ["subscription": subscription.fingerprint, "host": host, "because": reason])
        }
      }
      return .settled(.done, as: "pruned")
    case .stopPruning(let restore):
      let restored = try transaction.restore(restore, prunedBecause: reason)
      let words = "\(restore.count) subscriptions answer \(reason); \(restored) restored"
      if alarm(host, "pruning stopped: mass guard", because: words) {
        afterCommit.append { [metrics] in metrics.guardTrips.add() }
      }
      return .settled(.retry(notBefore: Self.waitWhileGuarded, because: words), as: nil)
    }
  }

  /// One line per host and kind, until the host takes something again.
  ///
  /// - Returns: whether it is new.
  @discardableResult
  private func alarm(_ host: String, _ words: String, because reason: String) -> Bool {
    guard alarmed[host, default: []].insert(words).inserted else { return false }
    afterCommit.append { [log] in
      log.error(
        words, ["host": host, "because": reason, "do": "check the VAPID keys, subject and clock"])
    }
    return true
  }

  private func record(_ sending: Sending, _ outcome: WebPushOutcome, now: UnixTime)
    -> DeliveryRecord?
  {
    guard let subscription = sending.target?.subscription else { return nil }
    let job = sending.job
    let (status, reason): (Int?, String?) =
      switch outcome {
      case .answered(let answer): (answer.status, answer.reason ?? shortened(answer, sending))
      case .forbidden(let cause), .unanswered(let cause): (nil, cause)
      }
    return DeliveryRecord(
      jobID: job.id, sessionID: job.sessionID, userID: job.userID, contextKey: nil, rev: 0,
      tokenFingerprint: subscription.fingerprint, event: name.rawValue, status: status,
      reason: reason, attempt: sending.delivery.attempt, causedAt: job.causedAt, settledAt: now)
  }

  /// What is recorded when the service keeps it for less time than asked.
  private func shortened(_ answer: WebPushAnswer, _ sending: Sending) -> String? {
    guard (200..<300).contains(answer.status), let ttl = answer.ttl, ttl < sending.ttl else {
      return nil
    }
    return "kept \(ttl) s instead of \(sending.ttl) s"
  }
}
