import ActivityContracts
import Foundation
import Sessions
import Vocabulary

/// What each participant's card should show after an event: one state per participant, seen from
/// its side and in its language. Pure.
enum ParticipantStates {
  /// How long a decided card stays on the Lock Screen.
  private static let decidedStays: Duration = .seconds(120)
  /// How long an `end` is worth sending: the life of a Live Activity.
  private static let endDeadline: Duration = .seconds(8 * 3600)

  /// Empty for a solo session: its initiator's app runs its own card.
  static func states(
    of session: Session, profiles: [UserID: Profile], causedAt: UnixTime, deadline: UnixTime?,
    traceparent: String?
  ) -> [ActivityState] {
    guard session.participants.count > 1 else { return [] }
    return session.participants.enumerated().map { place, participant in
      let language = Language(locale: profiles[participant.userID]?.locale)
      let hasEnded = session.state.isFinal || !participant.isPresent
      // The initiator started its own card; everybody else's is started by push.
      let start = place > 0 && !hasEnded ? start(of: session, for: participant, language) : nil
      return ActivityState(
        contextKey: session.contextKey(for: participant.userID),
        sessionID: session.id, userID: participant.userID, rev: session.rev,
        event: hasEnded ? .end : .update,
        contentState: JSON.encoded(
          session.contentState(for: participant.userID, language: language)),
        attributesType: CookSuggestActivityAttributes.activityType,
        attributes: start?.attributes, alertTitle: start?.title, alertBody: start?.body,
        staleAt: hasEnded ? nil : session.expiresAt,
        dismissAt: hasEnded ? dismissal(of: session, causedAt) : nil,
        deadline: hasEnded ? causedAt + endDeadline : (deadline ?? session.expiresAt),
        causedAt: causedAt, traceparent: traceparent,
        extras: place == 0 && !hasEnded ? ownStart(of: session, for: participant) : nil)
    }
  }

  private static func ownStart(of session: Session, for participant: Participant)
    -> ActivityState.Extras
  {
    let attributes = JSON.encoded(session.attributes(for: participant.userID))
    return ActivityState.Extras(ownAttributes: String(decoding: attributes, as: UTF8.self))
  }

  /// A decided card stays for two minutes; any other end takes it away at once.
  private static func dismissal(of session: Session, _ moment: UnixTime) -> UnixTime {
    session.state == .decided ? moment + decidedStays : moment
  }

  private static func start(
    of session: Session, for participant: Participant, _ language: Language
  ) -> (attributes: Data, title: String, body: String) {
    let invitation = session.invitation(language: language)
    return (
      JSON.encoded(session.attributes(for: participant.userID)), invitation.title, invitation.body
    )
  }
}
