import Sessions

extension NotificationType {
  /// Somebody is invited to plan a meal. Alerts when the session begins; over when it has ended,
  /// however it did.
  static let invitation = NotificationType(name: "cooksuggest.invitation") { event in
    guard case .session(let session, _) = event.subject else { return [] }
    let standing: Notice.Standing =
      session.state.isFinal
      ? .resolved(because: session.endReason?.rawValue ?? session.state.rawValue)
      : .open(alerts: event.type == SessionEventType.created.typeName)
    return session.invited.map { participant in
      Notice(
        userID: participant.userID, dedupeKey: session.invitationDedupeKey, icon: Invitation.icon,
        link: session.invitationLink, standing: standing, expiresAt: session.expiresAt,
        sessionID: session.id, rev: session.rev
      ) { language in
        let invitation = session.invitation(language: language)
        return Notice.Text(title: invitation.title, body: invitation.body)
      }
    }
  }
}
