import Activities
import ActivityContracts
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

  /// How the ids of the users of all runs begin.
  package static let userPrefix = "lt-"

  /// How the ids of this run's users begin.
  package var userPrefix: String { "\(Self.userPrefix)\(run)-" }

  package func user(_ id: UserID) -> UserID { UserID("\(userPrefix)\(id)") }

  package func session(_ id: SessionID) -> SessionID {
    SessionID("cs_lt\(UUIDText.named([run, id.text]).filter { $0 != "-" })")
  }

  package func activity(_ key: ActivityKey) -> ActivityKey {
    ActivityKey("lt\(UUIDText.named([run, key.text]).filter { $0 != "-" })")
  }

  /// Whether a session is one of this run cannot be told from its id; a user's can.
  package func owns(_ user: String) -> Bool { user.hasPrefix(userPrefix) }

  /// Names the phone of a user, given as in this run, that has one app: that of the cook session is
  /// called like its user.
  package func phone(of user: UserID, app: String) -> String {
    app == CookSuggestActivityAttributes.activityType ? user.text : "\(app):\(user)"
  }

  /// Whose phone of this run it is; nil for one of no run or of another.
  package func user(ofPhone phone: String) -> UserID? {
    if owns(phone) { return UserID(phone) }
    // No attributes type holds a colon; a user's id may.
    guard let colon = phone.firstIndex(of: ":") else { return nil }
    let user = phone[phone.index(after: colon)...]
    return owns(String(user)) ? UserID(String(user)) : nil
  }
}

/// An event as it is played.
package struct PlayedEvent {
  package enum Subject {
    case session(Session)
    case activity(Activity)
  }

  package let message: Message
  package let routingKey: String
  package let subject: Subject
  package let happenedAt: UnixTime

  /// What each of those it names should see of it; nil when nobody should.
  package var offer: Ledger.Offer? {
    switch subject {
    case .session(let session): Ledger.Offer(session)
    case .activity(let activity): Ledger.Offer(activity)
    }
  }
}

extension RecordedEvent {
  /// Whether a run plays it: phones register their tokens themselves, a card of the cook session
  /// hears of sessions only, and of an activity without a contract nobody can make a card.
  package func isPlayed(with contracts: ContractCatalog) -> Bool {
    switch subject {
    case .session: true
    case .activity(let activity): activity.isPlayed && contracts[activity.attributesType] != nil
    case .token: false
    }
  }
}

extension Activity {
  var isPlayed: Bool { attributesType != CookSuggestActivityAttributes.activityType }
}

extension RunNames {
  /// The event, happening at `now`: all its moments keep their distance from it.
  ///
  /// - Returns: nil for what is not played, see ``RecordedEvent/isPlayed(with:)``.
  package func played(
    _ event: RecordedEvent, at now: UnixTime, contracts: ContractCatalog = .builtIn
  ) -> PlayedEvent? {
    guard event.isPlayed(with: contracts) else { return nil }
    let shift = now - event.time
    let id = EventID(UUIDText.v7(now: now))
    let entry: OutboxEvent
    let subject: PlayedEvent.Subject
    switch event.subject {
    case .session(let recorded):
      guard let type = SessionEventType(typeName: event.type) else { return nil }
      var rewriting = Rewriting()
      rewriting.session = session
      rewriting.user = user
      rewriting.shift = shift
      let change = Change(
        session: recorded.rewritten(rewriting), eventType: type,
        mutationName: event.mutation ?? "replay", actor: event.actor.map(user))
      entry = Event.outboxEntry(
        for: change, id: id, at: now, traceparent: nil, source: "/lockstep/replay")
      subject = .session(change.session)
    case .activity(let recorded):
      guard let type = ActivityEventType(typeName: event.type),
        let contract = contracts[recorded.attributesType]
      else { return nil }
      var rewriting = ActivityRewriting()
      rewriting.key = activity
      rewriting.user = user
      rewriting.shift = shift
      let change = ActivityChange(
        activity: recorded.rewritten(rewriting, by: contract), event: type,
        mutationName: event.mutation ?? "replay")
      entry = Event.outboxEntry(
        for: change, by: event.actor.map(user), id: id, at: now, traceparent: nil,
        source: "/lockstep/replay")
      subject = .activity(change.activity)
    case .token: return nil
    }
    var message = entry.message
    message.headers[Event.Header.loadTest] = .text(run)
    if let deadline = event.deadline {
      message.headers[Event.Header.deadline] = .integer((deadline + shift).milliseconds)
    }
    return PlayedEvent(
      message: message, routingKey: entry.routingKey, subject: subject, happenedAt: now)
  }
}
