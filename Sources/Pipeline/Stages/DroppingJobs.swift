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
    guard let (reason, consequence) = drop.settlement.disposition.recorded else { return nil }
    let job = drop.work.job
    return DeliveryRecord(
      jobID: job.id, sessionID: job.sessionID, userID: job.userID, contextKey: job.contextKey,
      rev: job.rev, tokenFingerprint: job.token.fingerprint, event: job.event.rawValue,
      status: nil, reason: reason, attempt: drop.work.delivery.attempt, causedAt: job.causedAt,
      settledAt: now, wasSent: false, consequence: consequence)
  }
}

extension Disposition {
  /// What is recorded of a job that is settled without being sent; nil for what only waits its
  /// turn.
  var recorded: (reason: String, consequence: DeliveryRecord.Consequence)? {
    switch self {
    case .superseded(let cause): ("superseded: \(cause)", .superseded)
    case .expired: ("expired: its deadline has passed", .expired)
    case .stale: ("stale: a newer state is known", .stale)
    case .retry(_, let cause): (cause, .retried)
    case .dead(let cause): (cause, .dead)
    case .done, .park, .handBack: nil
    }
  }
}
