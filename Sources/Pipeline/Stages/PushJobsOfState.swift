import Cryptography
import Foundation
import Pushes
import Vocabulary

/// The push jobs that bring one activity's newest state to its phones. Pure.
///
/// A job's id is made of what it does, so that an event that comes twice makes the same job twice,
/// with the same `apns-id`.
extension ActivityState {
  /// An `update` or `end` for one update token. `isRepeated`: APNs took it before, so that it rings
  /// no more.
  ///
  /// - Throws: `PayloadTooLarge`.
  func job(to registration: Registration, isRepeated: Bool = false) throws -> PushJob {
    try job(
      self.event == .end ? .end : .update,
      payload: self.event == .end ? .end(dismissAt: dismissAt) : .update, to: registration,
      id: UUIDText.named([
        self.event.rawValue, contextKey.text, String(rev), registration.token.hex,
      ]),
      collapseID: nil, rings: !isRepeated)
  }

  /// A push-to-start for one push-to-start token; nil when this card is not started by push.
  ///
  /// All starts of one (session, token) have one id and one collapse id, whatever state they carry:
  /// queued while the phone is away, they become one card.
  func startJob(to registration: Registration) throws -> PushJob? {
    guard let attributes, let alertTitle, let alertBody, event != .end else { return nil }
    let event = LiveActivityPayload.Event.start(
      attributesType: attributesType, attributes: try JSONValue(parsing: attributes),
      alertTitle: alertTitle, alertBody: alertBody)
    return try job(
      .start, payload: event, to: registration,
      id: UUIDText.named(["start", sessionID.text, registration.token.hex]),
      collapseID: CollapseID.of("start:\(sessionID)"))
  }

  private func job(
    _ event: PushJob.Event, payload: LiveActivityPayload.Event, to registration: Registration,
    id: String, collapseID: String?, rings: Bool = true
  ) throws -> PushJob {
    var additions = additions(to: event, rings: rings)
    if event == .start, let channel = extras?.channel, channel.isHeard(by: registration) {
      additions.channelID = channel.id
    }
    return PushJob(
      id: id, event: event, sessionID: sessionID, userID: userID, contextKey: contextKey, rev: rev,
      hasAlert: additions.alert != nil, token: registration.token,
      environment: registration.environment, bundleID: registration.bundleID,
      collapseID: collapseID, deadline: deadline, causedAt: causedAt, traceparent: traceparent,
      payload: try body(of: payload, with: additions),
      channelStoresNewest: isOfChannel ? extras?.channel?.storesNewest : nil)
  }

  private func body(
    of event: LiveActivityPayload.Event, with additions: LiveActivityPayload.Additions
  ) throws -> Data {
    let spliced = LiveActivityPayload.spliced(
      event, contentState: contentState, staleAt: staleAt, additions: additions)
    if let spliced { return spliced }
    return try LiveActivityPayload(
      event: event, contentState: try JSONValue(parsing: contentState), staleAt: staleAt,
      additions: additions
    ).encoded()
  }

  private func additions(to event: PushJob.Event, rings: Bool) -> LiveActivityPayload.Additions {
    guard let extras else { return .init() }
    var additions = LiveActivityPayload.Additions(
      relevanceScore: extras.relevanceScore, beside: extras.beside.mapValues { .string($0) })
    if event == .update, rings, extras.alertsOnUpdate, let alertTitle, let alertBody {
      additions.alert = (alertTitle, alertBody)
    }
    if event == .start || additions.alert != nil { additions.alertSound = extras.alertSound }
    return additions
  }
}
