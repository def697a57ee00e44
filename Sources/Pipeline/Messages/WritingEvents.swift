import Activities
import Foundation
import Pushes
import Sessions
import Vocabulary

extension Event {
  /// How long after its last mutation an ended session's cards are still worth ending: the life of
  /// a Live Activity.
  private static let endDeadline: Duration = .seconds(8 * 3600)

  /// The outbox row for one change of a session, to be stored in the same transaction. `source`:
  /// which part of Lockstep changed it.
  package static func outboxEntry(
    for change: Change, id: EventID, at moment: UnixTime, traceparent: String?,
    source: String = "/lockstep/api"
  ) -> OutboxEvent {
    let session = change.session
    let type = change.eventType.typeName
    let cause = Cause(mutation: change.mutationName, userID: change.actor)
    let event = Written(
      id: id, source: source, type: type, subject: session.id.text, time: moment,
      data: SessionMembers(cause: cause, session: session))
    let deadline = session.state.isFinal ? moment + endDeadline : session.expiresAt
    return entry(event, deadline: deadline, traceparent: traceparent)
  }

  /// The outbox row for one change of an activity, to be stored in the same transaction.
  package static func outboxEntry(
    for change: ActivityChange, by user: UserID?, id: EventID, at moment: UnixTime,
    traceparent: String?, source: String = "/lockstep/api"
  ) -> OutboxEvent {
    let activity = change.activity
    let event = Written(
      id: id, source: source, type: change.event.typeName, subject: activity.sessionID.text,
      time: moment,
      data: ActivityMembers(
        cause: Cause(mutation: change.mutationName, userID: user), activity: activity))
    let deadline = activity.state == .ended ? moment + endDeadline : activity.expiresAt
    return entry(event, deadline: deadline, traceparent: traceparent)
  }

  /// The outbox row for a token that a phone registered.
  package static func outboxEntry(
    registered registration: Registration, id: EventID, at moment: UnixTime, traceparent: String?
  ) -> OutboxEvent {
    let cause = Cause(mutation: "register", userID: registration.userID)
    let members = TokenRegistered(
      userID: registration.userID, kind: registration.kind.rawValue,
      contextKey: registration.contextKey, tokenFingerprint: registration.token.fingerprint)
    let event = Written(
      id: id, source: "/lockstep/api", type: tokenRegisteredType,
      subject: registration.userID.text, time: moment,
      data: TokenMembers(cause: cause, registration: members))
    return entry(event, deadline: moment + endDeadline, traceparent: traceparent)
  }

  /// The outbox row for an Android phone that registered.
  package static func outboxEntry(
    registered registration: FCMRegistration, id: EventID, at moment: UnixTime,
    traceparent: String?
  ) -> OutboxEvent {
    let members = TokenRegistered(
      userID: registration.userID, kind: TokenRegistered.fcmKind, contextKey: nil,
      tokenFingerprint: registration.token.fingerprint)
    let event = Written(
      id: id, source: "/lockstep/api", type: tokenRegisteredType,
      subject: registration.userID.text, time: moment,
      data: TokenMembers(
        cause: Cause(mutation: "register", userID: registration.userID), registration: members))
    return entry(event, deadline: moment + endDeadline, traceparent: traceparent)
  }

  private static func entry(
    _ event: Written<some Encodable>, deadline: UnixTime, traceparent: String?
  ) -> OutboxEvent {
    var headers: MessageHeaders = [Header.deadline: .integer(deadline.milliseconds)]
    if let traceparent { headers[Header.traceparent] = .text(traceparent) }
    let message = Message(
      id: event.id.text, type: event.type, contentType: contentType, headers: headers,
      body: JSON.encoded(event), timestamp: event.time)
    return OutboxEvent(
      message: message, routingKey: event.type, storedAt: event.time, orderKey: event.subject)
  }

  private struct Written<Members: Encodable>: Encodable {
    let specversion = "1.0"
    let id: EventID
    let source: String
    let type: String
    let subject: String
    let time: UnixTime
    let datacontenttype = "application/json"
    let data: Members
  }

  private struct Cause: Encodable {
    let mutation: String
    let userID: UserID?

    enum CodingKeys: String, CodingKey {
      case mutation
      case userID = "user_id"
    }
  }

  private struct SessionMembers: Encodable {
    let cause: Cause
    let session: Session
  }

  private struct ActivityMembers: Encodable {
    let cause: Cause
    let activity: Activity
  }

  private struct TokenMembers: Encodable {
    let cause: Cause
    let registration: TokenRegistered
  }
}
