import Activities
import Foundation
import Pipeline
import Sessions
import Vocabulary

extension RecordedLine {
  /// The text of one line, with its newline.
  static func text(_ header: RecordingHeader) -> Data { ended(JSON.encoded(header)) }

  static func text(_ user: RecordedUser) -> Data { ended(JSON.encoded(user)) }

  static func text(missed count: Int, because reason: String) -> Data {
    let line: JSONValue = ["missed": .integer(Int64(count)), "because": .string(reason)]
    return ended(line.encoded)
  }

  static func text(_ end: RecordingEnd) -> Data {
    ended(JSON.encoded(["end": end]))
  }

  /// `body`: the event's JSON, on one line.
  static func text(event body: Data, at moment: UnixTime, deadline: UnixTime?) -> Data {
    var text = Data("{\"at\":\"\(moment.rfc3339)\"".utf8)
    if let deadline { text += Data(",\"deadline\":\"\(deadline.rfc3339)\"".utf8) }
    return text + Data(",\"event\":".utf8) + body + Data("}\n".utf8)
  }

  private static func ended(_ json: Data) -> Data { json + Data("\n".utf8) }
}

/// What a recorder makes of one message of the events exchange.
package enum RecordedForm {
  /// `session`: whose rev tells of missed events; an activity counts as a session.
  case event(line: Data, users: [UserID], session: (id: SessionID, rev: Int)?)
  /// Its type or shape is not known, so that nobody can say what in it tells of a person.
  case leftOut(because: String)
}

extension RecordedForm {
  /// Without stand-ins the event is kept as it came. `contracts`: only they tell which text of an
  /// activity speaks of a person, and what a stand-in for it may look like.
  package init(
    _ message: Message, standIns: StandIns?, contracts: ContractCatalog = .builtIn,
    receivedAt: UnixTime
  ) {
    do throws(BrokenLine) {
      let form = try EventForm.reading(message.body)
      let deadline = message.integer(Event.Header.deadline).map(UnixTime.init(milliseconds:))
      let event = try RecordedEvent(form, at: form.time, deadline: deadline)
      guard let standIns else {
        self = .event(
          line: RecordedLine.text(
            event: Self.onOneLine(message.body), at: receivedAt, deadline: deadline),
          users: event.users, session: event.place)
        return
      }
      let body = try standIns.body(of: event, form, contracts, id: message.id)
      self = .event(
        line: RecordedLine.text(event: body, at: receivedAt, deadline: deadline),
        users: event.users, session: event.place)
    } catch {
      self = .leftOut(because: error.description)
    }
  }

  private static func onOneLine(_ body: Data) -> Data {
    guard body.contains(UInt8(ascii: "\n")), let value = try? JSONValue(parsing: body) else {
      return body
    }
    // Written for people by another program; it parsed a moment ago.
    return value.encoded
  }
}

extension RecordedEvent {
  /// Everybody it names.
  package var users: [UserID] {
    switch subject {
    case .session(let session): session.participants.map(\.userID)
    case .activity(let activity): activity.recipients.map(\.userID)
    case .token(let user): [user]
    }
  }

  var place: (id: SessionID, rev: Int)? {
    switch subject {
    case .session(let session): (session.id, session.rev)
    case .activity(let activity): (activity.sessionID, activity.rev)
    case .token: nil
    }
  }
}

extension StandIns {
  private static let mutationMax = 40

  /// - Throws: ``BrokenLine`` where no contract says what an activity holds.
  fileprivate func body(
    of event: RecordedEvent, _ form: EventForm, _ contracts: ContractCatalog, id: String
  ) throws(BrokenLine) -> Data {
    switch event.subject {
    case .session(let session):
      let change = Change(
        session: session.rewritten(rewriting),
        eventType: SessionEventType(typeName: event.type) ?? .answered,
        mutationName: Self.word(event.mutation), actor: event.actor.map(user))
      return Event.outboxEntry(
        for: change, id: EventID(id), at: form.time, traceparent: nil
      ).message.body
    case .activity(let activity):
      guard let contract = contracts[activity.attributesType] else {
        throw BrokenLine(
          "there is no contract of \"\(activity.attributesType.prefix(100))\" that says what"
            + " stand-ins its texts could have; name its folder, or record with --raw")
      }
      let change = ActivityChange(
        activity: activity.rewritten(activityRewriting, by: contract),
        event: ActivityEventType(typeName: event.type) ?? .updated,
        mutationName: Self.word(event.mutation))
      return Event.outboxEntry(
        for: change, by: event.actor.map(user), id: EventID(id), at: form.time, traceparent: nil
      ).message.body
    case .token(let user):
      let registration = form.registration
      // Which token it was is nobody's business; who and of which kind is.
      let line: JSONValue = [
        "specversion": "1.0", "id": .string(id), "source": "/lockstep/record",
        "type": .string(event.type), "subject": .string(self.user(user).text),
        "time": .string(form.time.rfc3339), "datacontenttype": "application/json",
        "data": [
          "registration": [
            "user_id": .string(self.user(user).text),
            "kind": .string(Self.word(registration?.kind)), "token_fingerprint": "00000000",
          ]
        ],
      ]
      return line.encoded
    }
  }

  /// A name of ours passes; a text of another program's does not.
  private static func word(_ text: String?) -> String {
    guard let text, text.count <= mutationMax,
      text.allSatisfy({ $0.isASCII && ($0.isLetter || $0 == "_" || $0 == "-") })
    else { return "other" }
    return text
  }
}
