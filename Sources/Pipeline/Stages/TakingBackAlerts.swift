import Pushes
import ServiceRuntime
import Vocabulary

/// Alerts that were on their way when their notification was resolved. The notifier takes back what
/// the records show at that moment; what comes to light later is the sender's to take back. As
/// writers take turns, one of the two always sees it, and the job's id is the same.
extension APNsSender {
  /// The device showed the alert, but meanwhile its notification has been resolved.
  func takingBack(
    acceptedLate sending: Sending, in transaction: any StoreTransaction, now: UnixTime
  ) throws -> [OutgoingMessage] {
    guard sending.job.event == .alert, let key = sending.job.dedupeKey,
      try !transaction.resolvedKeys(among: [key]).isEmpty
    else { return [] }
    let registrations = try transaction.registrations(of: [sending.job.token])
    return takingBack(sending.job, among: registrations, now: now)
  }

  /// The alert is not sent any more, but an earlier visit, or a sender that died, may have sent it.
  func takingBack(_ sending: Sending, dropped known: SendKnowledge, now: UnixTime)
    -> [OutgoingMessage]
  {
    let job = sending.job
    guard job.event == .alert, let key = job.dedupeKey, known.resolved.contains(key),
      sending.delivery.redelivered || known.accepted.contains(job.id)
        || known.unanswered.contains(job.id)
    else { return [] }
    return takingBack(job, among: known.registrations, now: now)
  }

  /// Empty when the token is gone from the registry.
  private func takingBack(
    _ alert: PushJob, among registrations: [PushToken: [Registration]], now: UnixTime
  ) -> [OutgoingMessage] {
    guard let key = alert.dedupeKey,
      let registration = registrations[alert.token]?.first(where: alert.isMeant)
    else { return [] }
    do {
      let job = try PushJob.resolve(
        key, of: alert.sessionID, rev: alert.rev, on: registration, causedAt: now,
        traceparent: alert.traceparent)
      return [
        OutgoingMessage(
          exchange: pushes.exchange, routingKey: pushes.routingKey, message: job.message)
      ]
    } catch {
      // An alert with this key has fitted, and it holds more.
      log.error("alert cannot be taken back", ["job": alert.id, "because": "\(error)"])
      return []
    }
  }
}
