import Cryptography
import Foundation
import Pushes
import Sessions
import Vocabulary

// The push jobs of a notice. Their ids are made of what they do, so that ten notifiers that hear of
// one event make one job, and the sender drops what was accepted before.

extension Notice {
  /// The alert for one of the user's devices.
  func alert(to registration: Registration, in language: Language, because event: Event)
    throws(PayloadTooLarge) -> PushJob
  {
    let text = text(language)
    let payload = AlertPayload(
      title: text.title, body: text.body, link: link, dedupeKey: dedupeKey)
    return PushJob(
      id: PushJob.alertID(dedupeKey, to: registration.token), event: .alert,
      sessionID: sessionID, userID: registration.userID, contextKey: nil, rev: rev,
      token: registration.token, environment: registration.environment,
      bundleID: registration.bundleID, collapseID: CollapseID.of(dedupeKey), dedupeKey: dedupeKey,
      deadline: expiresAt, causedAt: event.time, traceparent: event.traceparent,
      payload: try payload.encoded())
  }

  /// What each of the user's browsers shows.
  func webPushPayload(in language: Language) -> WebPushPayload {
    let text = text(language)
    return WebPushPayload(
      title: text.title, body: text.body, link: link, dedupeKey: dedupeKey, sessionID: sessionID,
      language: language.rawValue, icon: icon)
  }

  func webPush(_ payload: Data, to subscription: WebPushSubscription, because event: Event)
    -> WebPushJob
  {
    WebPushJob(
      sessionID: sessionID, userID: subscription.userID, subscriptionID: subscription.id,
      dedupeKey: dedupeKey, deadline: expiresAt, causedAt: event.time,
      traceparent: event.traceparent, payload: payload)
  }

  func record(_ type: NotificationType, in language: Language, now: UnixTime) -> Notification {
    let text = text(language)
    return Notification(
      id: UUIDText.named(["notification", userID.text, dedupeKey]), userID: userID,
      type: type.name, title: text.title, body: text.body, icon: icon, link: link,
      dedupeKey: dedupeKey, createdAt: now, updatedAt: now)
  }
}

extension PushJob {
  static func alertID(_ dedupeKey: String, to token: PushToken) -> String {
    UUIDText.named(["alert", dedupeKey, token.hex])
  }

  static func resolveID(_ dedupeKey: String, on token: PushToken, isAgain: Bool = false) -> String {
    UUIDText.named(["resolve", dedupeKey, token.hex] + (isAgain ? ["again"] : []))
  }

  /// Takes back, silently, what an alert of this dedupe key has shown on the device. `isAgain`: the
  /// alert arrived once more after it had been taken back, so this is another job.
  static func resolve(
    _ dedupeKey: String, of sessionID: SessionID, rev: Int, on registration: Registration,
    causedAt: UnixTime, traceparent: String?, isAgain: Bool = false
  ) throws(PayloadTooLarge) -> PushJob {
    PushJob(
      id: resolveID(dedupeKey, on: registration.token, isAgain: isAgain), event: .resolve,
      sessionID: sessionID, userID: registration.userID, contextKey: nil, rev: rev,
      token: registration.token, environment: registration.environment,
      bundleID: registration.bundleID, collapseID: nil, dedupeKey: dedupeKey,
      deadline: causedAt + ResolvePayload.life, causedAt: causedAt, traceparent: traceparent,
      payload: try ResolvePayload(dedupeKey: dedupeKey).encoded())
  }
}
