import Pushes
import Vocabulary

/// What is known of a card that was started on the same phone by another push-to-start token: iOS
/// replaces that token at times, and starts are counted by token.
enum EarlierStart: Hashable {
  /// APNs took the start, and its card listens to a channel: no update token will ever tell of it.
  case listens
  /// The phone has an update token of which nobody knows what card it belongs to.
  case unbound
  /// Nothing was heard of the card yet; from then on it counts as never begun.
  case unheard(until: UnixTime)
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
    guard let first = earlier.map(\.firstAskedAt).min() else { return nil }
    if earlier.contains(where: { $0.acceptedAt != nil }),
      let channel = try rows.activityStates([context])[context]?.extras?.channel,
      channel.isHeard(by: registration)
    {
      return .listens
    }
    let unbound = TokenQuery(user: job.userID, isPruned: false, isUnbound: true)
    let isUnbound = try rows.tokenRows(unbound).contains {
      $0.registration.deviceID == device && $0.registration.registeredAt >= first
    }
    if isUnbound { return .unbound }
    let until = earlier.compactMap { start in
      start.acceptedAt.map { $0 + Start.heardOfWithin } ?? start.claimedUntil
    }.max()
    let waiting = Hold(lasts: Start.heardOfWithin)
    guard let until, waiting.isOn(until: until, now: now) else { return nil }
    return .unheard(until: until)
  }
}
