import Pushes
import Vocabulary

/// What is known of a card that APNs took a start of for the same phone, under another
/// push-to-start token: iOS replaces that token at times, and starts are counted by token.
enum EarlierStart: Hashable {
  /// Its card listens to a channel: no update token will ever tell of it.
  case listens
  /// Not heard of yet, or only by an update token of which nobody knows what card it belongs to.
  case perhaps
}

extension EarlierStart {
  /// Nil when nothing speaks for a card on the phone that `job` goes to.
  ///
  /// - Throws: ``StoreError``.
  static func find(
    before job: PushJob, to registration: Registration, in rows: any StoreTransaction,
    now: UnixTime
  ) throws -> EarlierStart? {
    guard let context = job.contextKey, let device = registration.deviceID else { return nil }
    let earlier = try rows.startsSent(to: job.userID, on: device, since: now - Binding.cardLife)
      .filter { $0.contextKey == context && $0.token != job.token }
      .compactMap { $0.acceptedAt ?? $0.claimedUntil }.max()
    guard let earlier else { return nil }
    if let channel = try rows.activityStates([context])[context]?.extras?.channel,
      channel.isHeard(by: registration)
    {
      return .listens
    }
    if now - earlier < Start.heardOfWithin { return .perhaps }
    let unbound = TokenQuery(user: job.userID, isPruned: false, isUnbound: true)
    return try rows.tokenRows(unbound).contains {
      $0.registration.deviceID == device && $0.registration.registeredAt >= earlier
    } ? .perhaps : nil
  }
}
