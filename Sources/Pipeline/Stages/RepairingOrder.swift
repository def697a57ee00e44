import Pushes
import Vocabulary

/// Two senders may push to one token within one second, and the network may turn the two round:
/// their stamps are equal, and the phone shows what came last.
extension APNsSender {
  /// Notes what APNs has taken. When that is older than what another sender has delivered
  /// meanwhile, the newest state is made to go out once more, with a later stamp.
  func repairing(
    acceptedLate sending: Sending, in transaction: any StoreTransaction
  ) throws -> [OutgoingMessage] {
    let job = sending.job
    guard job.event == .update || job.event == .end, let context = job.contextKey else { return [] }
    let delivered = try transaction.raiseDeliveredRev(to: job.rev, token: job.token)
    guard let delivered, delivered > job.rev,
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
