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
    let token = sending.job.token
    let registrations = try transaction.registrations(of: [token])[token] ?? []
    let before = PushJob.resolveID(key, on: token)
    let isAgain = try !transaction.acceptedJobs(among: [before]).isEmpty
    return takingBack(sending.job, among: registrations, now: now, isAgain: isAgain)
  }

  /// No answer came, and meanwhile another sender, which could not know of this push, has sent what
  /// takes the alert back: the alert may have arrived after it.
  func takingBackAgain(
    unanswered sending: Sending, _ outcome: PushOutcome, in transaction: any StoreTransaction,
    now: UnixTime
  ) throws -> [OutgoingMessage] {
    guard sending.job.event == .alert, case .unanswered = outcome,
      let key = sending.job.dedupeKey
    else { return [] }
    let before = PushJob.resolveID(key, on: sending.job.token)
    guard try !transaction.acceptedJobs(among: [before]).isEmpty else { return [] }
    return try takingBack(acceptedLate: sending, in: transaction, now: now)
  }

  /// Longer than a push may be under way.
  private static let otherSenderWait: Duration = .seconds(30)
  fileprivate static let otherSender = "the sender that had this alert may be showing it now"

  /// What becomes of a delivery whose push APNs accepted. Of an alert that another sender had too,
  /// a second push may be under way, and come after what takes the first one back: it is looked at
  /// once more when that one must have come.
  func settlement(ofAccepted sending: Sending, outgoing: [OutgoingMessage]) -> Settlement {
    let delivery = sending.delivery
    let isAlone =
      sending.job.event != .alert || !delivery.mayHaveGoneOut || delivery.hasWaited
    let disposition: Disposition =
      isAlone ? .done : .retry(notBefore: Self.otherSenderWait, because: Self.otherSender)
    return Settlement(delivery, disposition, outgoing: outgoing)
  }

  /// The job is not sent any more, but an earlier visit, or another sender, may have sent it.
  ///
  /// Whoever had a redelivered alert may be alive and its push under way: what takes it back must
  /// not overtake it, so the alert waits on the ladder first.
  func settlement(
    of sending: Sending, dropped disposition: Disposition, knowing known: SendKnowledge,
    now: UnixTime
  ) -> Settlement {
    let job = sending.job
    let delivery = sending.delivery
    let hasWaited = delivery.hasWaited
    // Past its time nobody will take it back who does not know that it was sent.
    let mayBeOver = disposition == .expired && (delivery.mayHaveGoneOut || hasWaited)
    guard job.event == .alert, mayBeOver || known.isResolved
    else { return Settlement(delivery, self.disposition(of: sending, dropped: disposition)) }
    if delivery.mayHaveGoneOut, !known.isAccepted, !hasWaited {
      return Settlement(
        delivery, .retry(notBefore: Self.otherSenderWait, because: Self.otherSender))
    }
    guard known.isAccepted || hasWaited || known.isUnanswered else {
      return Settlement(delivery, disposition)
    }
    // What took it back before the wait may have come before the alert.
    let outgoing = takingBack(
      job, among: known.standing.registrations, now: now,
      isAgain: hasWaited && known.isTakenBack)
    return Settlement(delivery, disposition, outgoing: outgoing)
  }

  /// A second record of an attempt that was refused: before it, a sender that died may have sent
  /// the alert. Nil when there was none.
  func recordOfEarlierSender(_ sending: Sending, _ outcome: PushOutcome, now: UnixTime)
    -> DeliveryRecord?
  {
    guard sending.job.event == .alert, sending.delivery.mayHaveGoneOut,
      !outcome.mayHaveArrived
    else { return nil }
    return record(
      sending, .unanswered(because: "an earlier sender may have sent it"), nil, now: now)
  }

  /// Empty when the token is gone from the registry.
  private func takingBack(
    _ alert: PushJob, among registrations: [Registration], now: UnixTime,
    isAgain: Bool = false
  ) -> [OutgoingMessage] {
    guard let key = alert.dedupeKey,
      let registration = registrations.first(where: alert.isMeant)
    else { return [] }
    do {
      let job = try PushJob.resolve(
        key, of: alert.sessionID, rev: alert.rev, on: registration, causedAt: now,
        traceparent: alert.traceparent, isAgain: isAgain)
      return [pushes.carrying(job.message)]
    } catch {
      // An alert with this key has fitted, and it holds more.
      log.error("alert cannot be taken back", ["job": alert.id, "because": "\(error)"])
      return []
    }
  }
}

extension Delivery {
  /// The other sender that had this alert is through with it.
  fileprivate var hasWaited: Bool {
    message.text(RetryHeader.lastError) == APNsSender.otherSender
  }
}
