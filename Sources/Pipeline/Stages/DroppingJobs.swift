import Pushes
import Vocabulary

/// Jobs that are settled without being sent. They are settled with the answers of the same turn, so
/// that their records cost no transaction of their own.
extension APNsSender {
  struct Drop {
    let work: Work
    let settlement: Settlement

    init(work: Work, settlement: Settlement) {
      self.work = work
      self.settlement = settlement
    }

    init(_ sending: Sending, _ disposition: Disposition) {
      self.init(work: sending.work, settlement: Settlement(sending.delivery, disposition))
    }
  }

  /// Nil for what only waits its turn.
  func record(_ drop: Drop, now: UnixTime) -> DeliveryRecord? {
    let (reason, consequence): (String, DeliveryRecord.Consequence)
    switch drop.settlement.disposition {
    case .superseded(let cause): (reason, consequence) = ("superseded: \(cause)", .superseded)
    case .expired: (reason, consequence) = ("expired: its deadline has passed", .expired)
    case .stale: (reason, consequence) = ("stale: a newer state is known", .stale)
    case .retry(_, let cause): (reason, consequence) = (cause, .retried)
    case .dead(let cause): (reason, consequence) = (cause, .dead)
    case .done, .park, .handBack: return nil
    }
    let job = drop.work.job
    return DeliveryRecord(
      jobID: job.id, sessionID: job.sessionID, userID: job.userID, contextKey: job.contextKey,
      rev: job.rev, tokenFingerprint: job.token.fingerprint, event: job.event.rawValue,
      status: nil, reason: reason, attempt: drop.work.delivery.attempt, causedAt: job.causedAt,
      settledAt: now, wasSent: false, consequence: consequence)
  }
}
