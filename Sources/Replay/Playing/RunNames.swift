import Cryptography
import Pipeline
import Sessions
import Vocabulary

/// The names of one run: sessions and people get new ids made of the run's name and their old ones,
/// so that a file can be played many times and never meets real users, and a run that was
/// interrupted can go on.
package struct RunNames: Hashable, Sendable {
  /// Letters and digits, at most ``nameMax``.
  package let run: String
  package static let nameMax = 20

  /// Nil for a name that cannot stand in ids.
  package init?(_ run: String) {
    guard (1...Self.nameMax).contains(run.utf8.count),
      run.utf8.allSatisfy({ byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
      })
    else { return nil }
    self.run = run
  }

  /// A new run's name.
  package static func drawn(at now: UnixTime) -> RunNames {
    let names = RunNames(String(now.milliseconds, radix: 36))
    guard let names else { preconditionFailure("a number is a name") }
    return names
  }

  package func user(_ id: UserID) -> UserID { UserID("lt-\(run)-\(id)") }

  package func session(_ id: SessionID) -> SessionID {
    SessionID("cs_lt\(UUIDText.named([run, id.text]).filter { $0 != "-" })")
  }

  /// Whether a session is one of this run cannot be told from its id; a user's can.
  package func owns(_ user: String) -> Bool { user.hasPrefix("lt-\(run)-") }
}

/// An event as it is played.
package struct PlayedEvent {
  package let message: Message
  package let routingKey: String
  package let session: Session
  package let happenedAt: UnixTime
}

extension RunNames {
  /// The event, happening at `now`: all its moments keep their distance from it.
  ///
  /// - Returns: nil for what phones do themselves on replay.
  package func played(_ event: RecordedEvent, at now: UnixTime) -> PlayedEvent? {
    guard case .session(let recorded) = event.subject,
      let type = SessionEventType(typeName: event.type)
    else { return nil }
    var rewriting = Rewriting()
    rewriting.session = session
    rewriting.user = user
    rewriting.shift = now - event.time
    let session = recorded.rewritten(rewriting)
    let change = Change(
      session: session, eventType: type, mutationName: event.mutation ?? "replay",
      actor: event.actor.map(user))
    let entry = Event.outboxEntry(
      for: change, id: EventID(UUIDText.v7(now: now)), at: now, traceparent: nil,
      source: "/lockstep/replay")
    var message = entry.message
    message.headers[Event.Header.loadTest] = .text(run)
    if let deadline = event.deadline {
      let moved = deadline + rewriting.shift
      message.headers[Event.Header.deadline] = .integer(moved.milliseconds)
    }
    return PlayedEvent(
      message: message, routingKey: entry.routingKey, session: session, happenedAt: now)
  }
}
