import Pushes
import ServiceRuntime
import Vocabulary

/// What the FCM sender has learnt. It changes while answers are settled, and is taken back as a
/// whole when they could not be stored.
struct FCMMemory {
  var massGuard = MassGuard<FCMToken>()
  var lanes = LaneBook()
  var breaker = FailureBreaker()
  var prunedJobs = PrunedJobs<FCMToken>()
  /// FCM refused the project, and no probe has gone through since.
  var isRefused = false
}

/// What the FCM sender does about answers: carries out remedies, and keeps one record per attempt.
extension FCMSender {
  private struct End {
    /// Nil: goes out again at once.
    let disposition: Disposition?
    let consequence: DeliveryRecord.Consequence
    var outgoing: [OutgoingMessage] = []
  }

  func settleDecided() throws -> (settlements: [Settlement], again: [Sending]) {
    let now = time.now()
    let (answers, drops) = (queue.answered, queue.dropped)
    let dropRecords = drops.compactMap { record($0.sending, dropped: $0.disposition, now: now) }
    var ends: [End] = []
    var repairs: [[OutgoingMessage]] = drops.map { _ in [] }
    if !answers.isEmpty || !dropRecords.isEmpty {
      let before = memory
      do {
        ends = try store.write { transaction in
          // The store may do it again from the beginning.
          self.memory = before
          self.afterCommit = []
          repairs = try drops.map { sending, disposition in
            try repair(after: sending, disposition, in: transaction, now: now)
          }
          let ends = try answers.map { sending, result in
            try end(of: sending, result, in: transaction, now: now)
          }
          let records = zip(answers, ends).map { answer, end in
            record(answer.sending, answer.answer.outcome, end.consequence, now: now)
          }
          try transaction.save(dropRecords + records)
          return ends
        }
      } catch {
        memory = before
        throw error
      }
      for tell in afterCommit { tell() }
      for (sending, result) in answers { trace(sending, result.outcome, now: now) }
      metrics.lanes.show(memory.lanes)
      laneBoard.show(memory.lanes, of: name)
    }
    var settlements = zip(drops, repairs).map { drop, outgoing in
      count(drop.disposition.outcome)
      return Settlement(drop.sending.delivery, drop.disposition, outgoing: outgoing)
    }
    var again: [Sending] = []
    for ((sending, _), end) in zip(answers, ends) {
      guard let disposition = end.disposition else {
        var next = sending
        next.hasRenewedToken = true
        again.append(next)
        continue
      }
      count(end.consequence.rawValue)
      settlements.append(Settlement(sending.delivery, disposition, outgoing: end.outgoing))
    }
    return (settlements, again)
  }

  private func end(
    of sending: Sending, _ result: FCMResult, in transaction: any StoreTransaction, now: UnixTime
  ) throws -> End {
    let outcome = result.outcome
    if case .answered = outcome, !outcome.isServiceFault { memory.breaker.succeeded(now: now) }
    memory.lanes.undecided(on: lane, now: now)
    switch outcome.remedy(hasRenewedToken: sending.hasRenewedToken) {
    case .done:
      memory.massGuard.accepted(sending.job.token, now: now)
      closeLane(by: sending)
      afterCommit.append { [metrics] in
        metrics.criticalTime.observe((now - sending.job.causedAt).secondsAndFraction)
      }
      return End(
        disposition: Self.disposition(of: sending, settled: .done), consequence: .accepted,
        outgoing: try accepted(sending.job, in: transaction, now: now))
    case .pruneUnlessMany(let reason):
      return try gone(sending, because: reason, in: transaction, now: now)
    case .renewToken:
      if let number = result.accessToken {
        afterCommit.append { [carrier] in carrier.renewAccessToken(refused: number) }
      }
      return End(disposition: nil, consequence: .again)
    case .dead(let reason):
      if outcome.showsThatProjectMaySend { closeLane(by: sending) }
      return End(disposition: .dead(because: reason), consequence: .dead)
    case .incident(let reason):
      if !memory.isRefused { afterCommit.append { [metrics] in metrics.incidents.add() } }
      memory.isRefused = true
      return parked(because: reason, now: now)
    case .pause(let wait, let reason):
      return parked(because: reason, probeAfter: wait, now: now)
    case .waitUnlessMany(let wait, let reason):
      // Of the guard only the counting of phones is wanted; nothing is pruned.
      switch memory.massGuard.refused(sending.job.token, because: reason, now: now) {
      case .prune:
        return End(
          disposition: .retry(notBefore: wait, because: reason), consequence: .retried)
      case .stopPruning(let many):
        return parked(because: "\(many.count) phones answer \(reason)", probeAfter: wait, now: now)
      }
    case .retry(let least, let reason):
      return later(outcome, notBefore: least, because: reason, now: now)
    }
  }

  /// Pruned only while the mass guard agrees: a project that forgets all its phones at once is ill,
  /// or we are.
  private func gone(
    _ sending: Sending, because reason: String, in transaction: any StoreTransaction,
    now: UnixTime
  ) throws -> End {
    let token = sending.job.token
    switch memory.massGuard.refused(token, because: reason, now: now) {
    case .prune:
      closeLane(by: sending)
      let isPruned = try transaction.prune(
        token, because: reason, unlessRegisteredAfter: sending.sentAt, at: now)
      if isPruned {
        memory.prunedJobs.note(sending.delivery, of: token, now: now)
        afterCommit.append { [log] in
          log.info("phone pruned", ["token": token.fingerprint, "because": reason])
        }
      }
      return End(disposition: .done, consequence: isPruned ? .pruned : .kept)
    case .stopPruning(let restore):
      let restored = try transaction.restore(restore, prunedBecause: reason)
      if !memory.lanes.isOpen(lane) {
        afterCommit.append { [metrics] in metrics.guardTrips.add() }
      }
      let words = "\(restore.count) phones answer \(reason); \(restored) restored"
      var end = parked(because: words, now: now)
      // What they missed while they counted as gone.
      end.outgoing = memory.prunedJobs.take(of: restore).map(pushes.carrying)
      return end
    }
  }

  // MARK: The lane

  /// The ladder; while FCM as a whole fails, a rung without counting an attempt.
  private func later(
    _ outcome: FCMOutcome, notBefore least: Duration, because reason: String, now: UnixTime
  ) -> End {
    if outcome.isServiceFault, memory.breaker.failed(now: now) {
      return parked(
        because: "most messages fail: \(reason)", probeAfter: max(least, LaneBook.probeInterval),
        mayHaveGoneOut: true, now: now)
    }
    guard outcome.isServiceFault, memory.lanes.isOpen(lane) else {
      return End(
        disposition: .retry(notBefore: least, because: reason), consequence: .retried)
    }
    let wait = max(least, memory.lanes.parkTime(on: lane, now: now))
    return End(
      disposition: .park(notBefore: wait, mayHaveGoneOut: true), consequence: .laneOpened)
  }

  /// Opens the lane, or keeps it open.
  private func parked(
    because reason: String, probeAfter wait: Duration? = nil, mayHaveGoneOut: Bool = false,
    now: UnixTime
  ) -> End {
    if memory.lanes.open(lane, because: reason, now: now, probeAfter: wait) {
      afterCommit.append { [log, lane] in
        log.error(
          "lane open: nothing is sent but a probe",
          [
            "environment": lane.service.rawValue, "topic": lane.topic, "because": reason,
            "do": "check FCM's own status, the service account, the project, the clock",
          ])
      }
    }
    return End(
      disposition: .park(
        notBefore: memory.lanes.parkTime(on: lane, now: now), mayHaveGoneOut: mayHaveGoneOut),
      consequence: .laneOpened)
  }

  private func closeLane(by sending: Sending) {
    guard sending.isProbe, memory.lanes.accepted(on: lane) else { return }
    memory.isRefused = false
    afterCommit.append { [log, lane] in
      log.info("lane closed", ["topic": lane.topic, "environment": lane.service.rawValue])
    }
  }
}
