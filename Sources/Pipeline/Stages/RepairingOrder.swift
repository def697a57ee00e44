import Pushes
import Vocabulary

/// Two senders may push to one token within one second, and the network may turn the two round:
/// their stamps are equal, and the phone shows what came last.
extension APNsSender {
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
    let job = sending.job
    guard let delivered, delivered > job.rev, let context = job.contextKey,
      let newest = try transaction.activityStates([context])[context],
      let registration = try transaction.registrations(of: [job.token])[job.token]?
        .first(where: job.isMeant)
    else { return [] }
    do {
      let repeated = try newest.job(to: registration)
      try transaction.forgetDeliveredRev(of: job.token)
      return [pushes.carrying(repeated.message)]
    } catch is PayloadTooLarge {
      // What could not be made a push now was none before.
      return []
    }
  }
}
