import Pushes
import Vocabulary

/// Two senders may push to one token within one second, and the network may turn the two round:
/// their stamps are equal, and the phone shows what came last. Perhaps nobody hears of the older
/// one: its sender died, or no answer came.
extension APNsSender {
  /// More than the second that a stamp is exact to: what goes out then is stamped later.
  private static let nextStampWait: Duration = .seconds(2)
  fileprivate static let unheardPush = "a push of this state that nobody heard of may come yet"

  /// What becomes of a state that is not sent any more, but may have gone out a moment ago: it is
  /// looked at once more when the newest can be told from it by its stamp.
  func disposition(of sending: Sending, dropped disposition: Disposition) -> Disposition {
    let delivery = sending.delivery
    guard sending.job.isState, disposition.isFinal,
      delivery.redelivered && !delivery.hasWaited || sending.isUnheard,
      // At the top of the ladder it has waited before.
      pushes.ladder.rung(afterAttempts: delivery.attempt, notBefore: Self.nextStampWait) != nil
    else { return disposition }
    return .retry(notBefore: Self.nextStampWait, because: Self.unheardPush)
  }

  /// After that wait: the newest state, when it went out before it and is not followed by another.
  func repairing(_ drop: Drop, in transaction: any StoreTransaction) throws -> [OutgoingMessage] {
    let (job, delivery) = (drop.work.job, drop.work.delivery)
    guard job.isState, drop.settlement.disposition.isFinal, let context = job.contextKey,
      try mayHaveGoneOut(delivery, job, in: transaction),
      let standing = try transaction.standings(of: [(job.token, context)]).first,
      let newest = standing.newestRev, newest > job.rev, standing.deliveredRev == newest
    else { return [] }
    return try newestAgain(after: job, in: transaction)
  }

  private func mayHaveGoneOut(
    _ delivery: Delivery, _ job: PushJob, in transaction: any StoreTransaction
  ) throws -> Bool {
    if delivery.mayHaveGoneOut || delivery.hasWaited { return true }
    return try delivery.attempt > 1 && !transaction.unansweredJobs(among: [job.id]).isEmpty
  }

  /// Notes what APNs has taken, of all answers at once.
  ///
  /// - Returns: for each answer, the newest rev that APNs took for its token; nil when this one
  ///   raises none.
  func raiseDeliveredRevs(
    _ answers: [(Sending, PushOutcome)], in transaction: any StoreTransaction
  ) throws -> [Int?] {
    var newest = [Int?](repeating: nil, count: answers.count)
    let places = answers.indices.filter { place in
      let (sending, outcome) = answers[place]
      return (sending.job.event == .update || sending.job.event == .end)
        && outcome.remedy(sending.circumstances) == .done
    }
    guard !places.isEmpty else { return newest }
    let accepted = places.map { place in
      let sending = answers[place].0
      return AcceptedRev(
        token: sending.job.token, rev: sending.job.rev, place: sending.tokenPlace)
    }
    for (place, rev) in zip(places, try transaction.raiseDeliveredRevs(accepted)) {
      newest[place] = rev
    }
    return newest
  }

  /// When what APNs has taken is older than what another sender has delivered meanwhile, the newest
  /// state is made to go out once more, with a later stamp.
  func repairing(
    acceptedLate sending: Sending, newest delivered: Int?, in transaction: any StoreTransaction
  ) throws -> [OutgoingMessage] {
    guard let delivered, delivered > sending.job.rev else { return [] }
    return try newestAgain(after: sending.job, in: transaction)
  }

  private func newestAgain(after job: PushJob, in transaction: any StoreTransaction) throws
    -> [OutgoingMessage]
  {
    guard let context = job.contextKey,
      let newest = try transaction.activityStates([context])[context],
      let registration = try transaction.registrations(of: [job.token])[job.token]?
        .first(where: job.isMeant)
    else { return [] }
    do {
      let repeated = try newest.job(to: registration, isRepeated: true)
      try transaction.forgetDeliveredRev(of: job.token)
      return [pushes.carrying(repeated.message)]
    } catch is PayloadTooLarge {
      // What could not be made a push now was none before.
      return []
    }
  }
}

extension PushJob {
  /// Of a card that is there.
  var isState: Bool { event == .update || event == .end }
}

extension Delivery {
  fileprivate var hasWaited: Bool {
    message.text(RetryHeader.lastError) == APNsSender.unheardPush
  }
}
