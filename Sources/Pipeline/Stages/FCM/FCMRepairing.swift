import Pushes
import Vocabulary

/// FCM keeps for a phone what came last, and a message that nobody answered may have come, or come
/// yet. What a phone may show for that is followed by the newest state.
extension FCMSender {
  /// The rev of a card that a phone may show, though nobody heard that FCM took one: below each
  /// that there is.
  static let unheardRev = 0

  /// Longer than a message may be under way.
  private static let otherSenderWait: Duration = .seconds(30)
  private static let otherSender = "the sender that had this message may be sending it now"

  /// What becomes of a delivery that is over. What another sender had may be under way, and come
  /// after all that FCM has taken by now: it is looked at once more when that one must have come.
  static func disposition(of sending: Sending, settled disposition: Disposition) -> Disposition {
    let delivery = sending.delivery
    let hasWaited = delivery.message.text(RetryHeader.lastError) == otherSender
    guard delivery.redelivered, !hasWaited, disposition.isFinal else { return disposition }
    return .retry(notBefore: otherSenderWait, because: otherSender)
  }

  /// Notes what FCM has taken. When that is older than what another sender has delivered meanwhile,
  /// the newest state is made to go out once more. The same when the user swiped the card away on
  /// another phone while it was on its way: the builder left this phone out since, and now it shows
  /// the card.
  func accepted(_ job: FCMJob, in transaction: any StoreTransaction, now: UnixTime) throws
    -> [OutgoingMessage]
  {
    let delivered = try transaction.raiseDeliveredRev(
      of: job.contextKey, to: job.token, rev: job.rev, at: now)
    let isOlder = try delivered > job.rev || isLeftOut(job, in: transaction)
    return isOlder ? try newestAgain(after: job, in: transaction, now: now) : []
  }

  /// What is not sent may have gone out on an earlier visit, after what FCM has taken since.
  func repair(
    after sending: Sending, _ disposition: Disposition, in transaction: any StoreTransaction,
    now: UnixTime
  ) throws -> [OutgoingMessage] {
    guard sending.mayHaveGoneOut, disposition.isFinal else { return [] }
    let job = sending.job
    if let delivered = try transaction.deliveredRev(of: job.contextKey, to: job.token),
      delivered > Self.unheardRev
    {
      return delivered > job.rev ? try newestAgain(after: job, in: transaction, now: now) : []
    }
    if try isLeftOut(job, in: transaction) {
      return try newestAgain(after: job, in: transaction, now: now)
    }
    // Should the user swipe the card away elsewhere, this phone must not be left with an old state.
    if job.event != .end, try phone(of: job, in: transaction) != nil {
      _ = try transaction.raiseDeliveredRev(
        of: job.contextKey, to: job.token, rev: Self.unheardRev, at: now)
    }
    return []
  }

  /// The newest state goes to this job's phone once more: an older one may lie above it at FCM, or
  /// be what the phone shows, which knows nothing of an end that it had no card for.
  private func newestAgain(
    after job: FCMJob, in transaction: any StoreTransaction, now: UnixTime
  ) throws -> [OutgoingMessage] {
    guard let newest = try transaction.activityStates([job.contextKey])[job.contextKey],
      let phone = try phone(of: job, in: transaction)
    else { return [] }
    // Lower, so that the newest may go, and not unknown: the builder would leave out a phone of one
    // who swiped the card away elsewhere.
    try transaction.forgetDeliveredRev(of: job.contextKey, to: job.token)
    _ = try transaction.raiseDeliveredRev(
      of: job.contextKey, to: job.token, rev: min(job.rev, newest.rev - 1), at: now)
    return [pushes.carrying(newest.fcmJob(to: phone, isShown: true).message)]
  }

  private func phone(of job: FCMJob, in transaction: any StoreTransaction) throws
    -> FCMRegistration?
  {
    let phone = try transaction.fcmRegistrations([job.token])[job.token]
    return phone?.userID == job.userID ? phone : nil
  }

  /// The builder makes no jobs for a card that was swiped away meanwhile, as far as it knows.
  private func isLeftOut(_ job: FCMJob, in transaction: any StoreTransaction) throws -> Bool {
    let newest = try transaction.activityStates([job.contextKey])[job.contextKey]
    guard let newest, newest.rev > job.rev, newest.event != .end else { return false }
    return try !transaction.dismissed(among: [job.contextKey]).isEmpty
  }
}
