import Activities
import Foundation
import Vocabulary

/// What each recipient's card of an activity should show: one state per recipient. Pure.
///
/// The counterpart of ``ParticipantStates`` for everything that is no cook session; from here on
/// the builder knows no difference.
package enum RecipientStates {
  /// How long an `end` is worth sending: the life of a Live Activity.
  private static let endDeadline: Duration = .seconds(8 * 3600)

  /// `event`: what these states were caused by.
  ///
  /// - Throws: ``ContractBroken`` when a phone could decode one of them only in part or not at all.
  package static func states(
    of activity: Activity, by contracts: ContractCatalog, causedAt: UnixTime, deadline: UnixTime?,
    traceparent: String?
  ) throws(ContractBroken) -> [ActivityState] {
    // Cards begin with the channel they listen to; once it is there, this event comes again.
    if activity.channel?.isAwaited == true { return [] }
    guard let contract = contracts[activity.attributesType] else {
      throw ContractBroken(
        description: "attributes_type \"\(activity.attributesType.prefix(100))\" is not declared")
    }
    let attributes = try checked(
      contract.read(attributes: activity.attributes, now: causedAt), "attributes")
    var states: [ActivityState] = []
    for (place, recipient) in activity.recipients.enumerated() {
      let state = try checked(
        contract.read(contentState: recipient.contentState, now: causedAt),
        "recipients[\(place)].content_state")
      guard let alert = activity.alert ?? contract.alertWords(in: state) else {
        throw ContractBroken(description: "alert is missing: iOS starts no card without one")
      }
      states.append(
        Self.state(
          of: activity, for: recipient, showing: state, attributes: attributes, alert: alert,
          link: contract.linkMember, causedAt: causedAt, deadline: deadline,
          traceparent: traceparent))
    }
    if let shared = ActivityState.ofChannel(of: activity, showing: states) { states.append(shared) }
    return states
  }

  private static func checked(_ reading: ContractReading, _ what: String) throws(ContractBroken)
    -> JSONValue
  {
    guard let first = reading.problems.first else { return reading.value }
    throw ContractBroken(description: "\(what)\(first.pointer): \(first.detail)")
  }

  private static func state(
    of activity: Activity, for recipient: Activity.Recipient, showing state: JSONValue,
    attributes: JSONValue, alert: Activity.Alert, link: String, causedAt: UnixTime,
    deadline: UnixTime?,
    traceparent: String?
  ) -> ActivityState {
    let hasEnded = activity.state == .ended || !recipient.isPresent
    // Who lost the card, or whose card's time is over, has no more use for it.
    let goesAtOnce = !recipient.isPresent || activity.endReason == .ttl
    return ActivityState(
      contextKey: activity.contextKey(of: recipient.userID), sessionID: activity.sessionID,
      userID: recipient.userID, rev: recipient.rev, event: hasEnded ? .end : .update,
      contentState: state.encoded, attributesType: activity.attributesType,
      attributes: hasEnded ? nil : attributes.encoded,
      alertTitle: hasEnded ? nil : alert.title,
      alertBody: hasEnded ? nil : alert.body,
      staleAt: hasEnded ? nil : activity.staleAt ?? activity.expiresAt,
      dismissAt: hasEnded ? (goesAtOnce ? causedAt : activity.dismissAt) : nil,
      deadline: hasEnded ? causedAt + endDeadline : (deadline ?? activity.expiresAt),
      causedAt: causedAt, traceparent: traceparent,
      extras: ActivityState.Extras(
        relevanceScore: activity.relevanceScore,
        beside: activity.deepLink.map { [link: $0] } ?? [:],
        alertsOnUpdate: !hasEnded && activity.alertRev == recipient.rev,
        alertSound: hasEnded ? nil : alert.sound,
        channel: activity.usableChannel))
  }
}

/// An activity that no phone would show as it is.
package struct ContractBroken: Error, Hashable, CustomStringConvertible {
  package let description: String
}
