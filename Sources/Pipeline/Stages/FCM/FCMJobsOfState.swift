import Cryptography
import Foundation
import Pushes
import Vocabulary

/// The FCM jobs that bring cards' newest states to Android phones.
///
/// Each message carries the whole card, so that none depends on another: the first that FCM has
/// not taken yet is a `start`, which rings; whatever it replaces is not missed.
struct FCMJobs {
  let transaction: any StoreTransaction

  struct Due {
    let state: ActivityState
    let job: FCMJob
  }

  /// One job for each Android phone of each card's user.
  ///
  /// - Throws: ``StoreError``.
  func jobs(for states: [ActivityState]) throws -> [Due] {
    guard !states.isEmpty else { return [] }
    let phones = try transaction.fcmRegistrations(of: Array(Set(states.map(\.userID))))
    guard !phones.isEmpty else { return [] }
    let dismissed = try transaction.dismissed(among: states.map(\.contextKey))
    return try states.flatMap { state in
      try (phones[state.userID] ?? []).compactMap { phone in
        let delivered = try transaction.deliveredRev(of: state.contextKey, to: phone.token)
        // Whoever swiped a card away does not want it back.
        if delivered == nil, state.event != .end, dismissed.contains(state.contextKey) {
          return nil
        }
        return Due(state: state, job: state.fcmJob(to: phone, isShown: delivered != nil))
      }
    }
  }

  /// A phone whose token came late gets its user's cards as they are.
  ///
  /// - Throws: ``StoreError``.
  func jobs(after registered: TokenRegistered, now: UnixTime) throws -> [Due] {
    guard registered.kind == TokenRegistered.fcmKind else { return [] }
    let states = try transaction.liveActivityStates(of: registered.userID)
    return try jobs(for: states.filter { $0.deadline > now })
      .filter { $0.job.token.fingerprint == registered.tokenFingerprint }
  }
}

extension ActivityState {
  /// `isShown`: whether FCM has taken a state of this card for that phone. What FCM would
  /// not take dead-letters where it would go out, and keeps no iPhone from its push.
  func fcmJob(to phone: FCMRegistration, isShown: Bool) -> FCMJob {
    let event: FCMJob.Event = self.event == .end ? .end : isShown ? .update : .start
    var data = FCMData(
      event: event, contextKey: contextKey, sessionID: sessionID, kind: attributesType, rev: rev,
      causedAt: causedAt, contentState: contentState)
    data.attributes = attributes ?? extras?.ownAttributes.map { Data($0.utf8) }
    data.beside = extras?.beside ?? [:]
    data.staleAt = staleAt
    data.dismissAt = dismissAt
    let rings = event == .start || event == .update && extras?.alertsOnUpdate == true
    if rings, let alertTitle, let alertBody { data.alert = (alertTitle, alertBody) }
    return FCMJob(
      id: UUIDText.named(["fcm", event.rawValue, contextKey.text, String(rev), phone.token.text]),
      event: event, sessionID: sessionID, userID: userID, contextKey: contextKey, rev: rev,
      token: phone.token, packageName: phone.packageName, isUrgent: rings || event == .end,
      deadline: deadline, causedAt: causedAt, traceparent: traceparent,
      data: data.encoded, dataBytes: data.bytes)
  }
}

extension TokenRegistered {
  /// What ``kind`` is for an Android phone; it names no kind of APNs.
  package static let fcmKind = "fcm"
}
