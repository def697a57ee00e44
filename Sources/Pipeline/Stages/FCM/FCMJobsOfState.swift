import Cryptography
import Foundation
import Pushes
import Vocabulary

/// What the store knows about the Android phones of a batch's users, and the FCM jobs that bring
/// cards' newest states to them.
///
/// Each message carries the whole card, so that none depends on another: the first that FCM has
/// not taken yet is a `start`, which rings; whatever it replaces is not missed.
struct AndroidKnowledge {
  private struct Card: Hashable {
    let context: ContextKey
    let token: FCMToken
  }

  private let phones: [UserID: [FCMRegistration]]
  private var dismissed: Set<ContextKey> = []
  /// The newest rev that FCM has taken of each card.
  private var delivered: [Card: Int] = [:]

  /// - Throws: ``StoreError``.
  init(of states: [ActivityState], in transaction: any StoreTransaction) throws {
    phones = try transaction.fcmRegistrations(of: Array(Set(states.map(\.userID))))
    guard !phones.isEmpty else { return }
    let contexts = Dictionary(states.map { ($0.contextKey, $0.userID) }) { first, _ in first }
      .filter { phones[$0.value] != nil }
    dismissed = try transaction.dismissed(among: Array(contexts.keys))
    for (context, user) in contexts {
      for phone in phones[user] ?? [] {
        delivered[Card(context: context, token: phone.token)] = try transaction.deliveredRev(
          of: context, to: phone.token)
      }
    }
  }

  struct Due {
    let state: ActivityState
    let job: FCMJob
  }

  /// One job for each Android phone of each card's user.
  func jobs(for states: [ActivityState]) -> [Due] {
    states.flatMap { state in
      (phones[state.userID] ?? []).compactMap { phone in
        let delivered = delivered[Card(context: state.contextKey, token: phone.token)]
        let isDismissed = dismissed.contains(state.contextKey)
        // Whoever swiped a card away does not want it back.
        if delivered == nil, state.event != .end, isDismissed { return nil }
        // Where it may be shown and nobody knows, it rings, but for whoever swiped it away.
        let isShown = isDismissed || delivered ?? FCMSender.unheardRev > FCMSender.unheardRev
        return Due(state: state, job: state.fcmJob(to: phone, isShown: isShown))
      }
    }
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
