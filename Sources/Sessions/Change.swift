import Vocabulary

/// One mutation that changed something: the session after it, and how to tell others.
package struct Change: Hashable, Sendable {
  package let session: Session
  /// Named after the new state when the state changed, else after what was done.
  package let eventType: SessionEventType
  /// `cause.mutation` of the event: ``Mutation/name``, or `create`.
  package let mutationName: String
  /// Nil for the kitchen, expiry and a job's time-out.
  package let actor: UserID?

  package init(
    session: Session, eventType: SessionEventType, mutationName: String, actor: UserID?
  ) {
    self.session = session
    self.eventType = eventType
    self.mutationName = mutationName
    self.actor = actor
  }
}

/// What one event says happened.
package enum SessionEventType: String, Hashable, Sendable, CaseIterable {
  case created, joined, answered, readied, generating, proposed, picked, confirmed, finalizing,
    decided, left, cancelled

  private static let prefix = "cooksuggest.session."

  /// The event's `type` and routing key, `cooksuggest.session.picked`.
  package var typeName: String { Self.prefix + rawValue }

  /// Nil for the type of any other event.
  package init?(typeName: String) {
    guard typeName.hasPrefix(Self.prefix) else { return nil }
    self.init(rawValue: String(typeName.dropFirst(Self.prefix.count)))
  }
}
