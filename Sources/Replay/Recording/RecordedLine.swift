import Activities
import Foundation
import Pipeline
import Sessions
import Vocabulary

/// One line of a recording: JSON, one object.
///
///     {"lockstep_recording":2,"made_at":"…","source":"…","anonymised":true}
///     {"user":"u_1","tokens":["alert","la-pushToStart"],"assumed":false,"locale":"de-DE",
///      "apps":["ShinyActivityAttributes"]}
///     {"at":"…","deadline":"…","event":{…CloudEvent…}}
///     {"missed":12,"because":"…"}
///     {"end":{"events":100,"missed":12,"left_out":0}}
///
/// A user stands before the first event that names it. Unknown members are ignored. Version 2 came
/// with the events of activities and `apps`; all of version 1 means the same in it.
package enum RecordedLine: Hashable, Sendable {
  case header(RecordingHeader)
  case user(RecordedUser)
  case event(RecordedEvent)
  /// So many events at least happened before the next line and are not in the file.
  case missed(Int, because: String)
  case end(RecordingEnd)
}

/// What a recording says of itself in its first line.
package struct RecordingHeader: Hashable, Sendable, Codable {
  /// What this program writes.
  package static let versionNow = 2
  /// The oldest that it reads whole.
  package static let versionMin = 1

  package let version: Int
  package let madeAt: UnixTime
  /// Where the events come from, in words; holds no password.
  package let source: String
  /// Users, names, texts and tokens are stand-ins.
  package let anonymised: Bool

  enum CodingKeys: String, CodingKey {
    case version = "lockstep_recording"
    case madeAt = "made_at"
    case source, anonymised
  }
}

/// Who takes part, and what its phones are reached by.
package struct RecordedUser: Hashable, Sendable, Codable {
  package let user: UserID
  /// ``Pushes/TokenKind``'s raw values.
  package let tokens: [String]
  /// The registry was not asked; these are what an app registers at its start.
  package let assumed: Bool?
  /// BCP 47; nil reads as German.
  package let locale: String?
  /// The attributes types, besides the cook session's, that a push can start a card of. Nil:
  /// nobody looked, and each activity that names the user finds its app.
  package let apps: [String]?

  package init(
    user: UserID, tokens: [String], assumed: Bool?, locale: String?, apps: [String]? = nil
  ) {
    self.user = user
    self.tokens = tokens
    self.assumed = assumed
    self.locale = locale
    self.apps = apps
  }
}

/// One event, and when it was published.
package struct RecordedEvent: Hashable, Sendable {
  package enum Subject: Hashable, Sendable {
    case session(Session)
    case activity(Activity)
    /// A phone of this user registered a token; on replay the phones do so themselves.
    case token(UserID)
  }

  /// When it was published.
  package let at: UnixTime
  /// When it happened.
  package let time: UnixTime
  /// Its `x-deadline`.
  package let deadline: UnixTime?
  package let type: String
  package let mutation: String?
  package let actor: UserID?
  package let subject: Subject
}

/// The last line of a recording that was ended in good order.
package struct RecordingEnd: Hashable, Sendable, Codable {
  package let events: Int
  package let missed: Int
  /// Events of types that could not be made anonymous.
  package let leftOut: Int

  enum CodingKeys: String, CodingKey {
    case events, missed
    case leftOut = "left_out"
  }
}

/// What is wrong with one line, in words; the others can still be used.
package struct BrokenLine: Error, Hashable, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

// MARK: Reading

extension RecordedLine {
  /// - Throws: ``BrokenLine``.
  package init(reading text: Data) throws(BrokenLine) {
    let form = try Self.decoded(Form.self, from: text)
    if let version = form.version {
      self = .header(
        RecordingHeader(
          version: version, madeAt: form.madeAt ?? UnixTime(milliseconds: 0),
          source: form.source ?? "", anonymised: form.anonymised ?? false))
    } else if let user = form.user {
      self = .user(
        RecordedUser(
          user: user, tokens: form.tokens ?? RecordedUser.usualTokens, assumed: form.assumed,
          locale: form.locale, apps: form.apps))
    } else if let event = form.event {
      self = .event(try RecordedEvent(event, at: form.at ?? event.time, deadline: form.deadline))
    } else if let missed = form.missed {
      self = .missed(missed, because: form.because ?? "")
    } else if let end = form.end {
      self = .end(end)
    } else {
      throw BrokenLine("is neither a header, a user, an event nor an end")
    }
  }

  fileprivate static func decoded<Value: Decodable>(_ type: Value.Type, from text: Data)
    throws(BrokenLine) -> Value
  {
    do {
      return try JSON.decode(type, from: text)
    } catch let error as DecodingError {
      throw BrokenLine("\(DecodingProblem(error))")
    } catch {
      throw BrokenLine("\(error)")
    }
  }

  /// All members of all kinds of lines, so that a line is read once.
  private struct Form: Decodable {
    let version: Int?
    let madeAt: UnixTime?
    let source: String?
    let anonymised: Bool?
    let user: UserID?
    let tokens: [String]?
    let assumed: Bool?
    let locale: String?
    let apps: [String]?
    let at: UnixTime?
    let deadline: UnixTime?
    let event: EventForm?
    let missed: Int?
    let because: String?
    let end: RecordingEnd?

    enum CodingKeys: String, CodingKey {
      case version = "lockstep_recording"
      case madeAt = "made_at"
      case source, anonymised, user, tokens, assumed, locale, apps, at, deadline, event, missed
      case because, end
    }
  }
}

extension RecordedUser {
  /// What an app registers when it starts.
  package static let usualTokens = ["alert", "la-pushToStart"]

  /// Whether a card can be started on one of its phones.
  package var canStart: Bool { tokens.contains("la-pushToStart") }
}

/// A CloudEvent as far as a recording needs it.
struct EventForm: Decodable {
  struct Cause: Decodable {
    let mutation: String?
    let userID: UserID?

    enum CodingKeys: String, CodingKey {
      case mutation
      case userID = "user_id"
    }
  }

  let type: String
  let time: UnixTime
  let cause: Cause?
  let session: Session?
  let activity: Activity?
  let registration: TokenRegistered?

  private struct Members: Decodable {
    let cause: Cause?
    let session: Session?
    let registration: TokenRegistered?
  }

  private struct ActivityMembers: Decodable {
    let cause: Cause?
    let activity: Activity?
  }

  private enum CodingKeys: String, CodingKey { case type, time, data }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    type = try fields.decode(String.self, forKey: .type)
    time = try fields.decode(UnixTime.self, forKey: .time)
    // What an event of another type calls the same is not ours to read.
    if ActivityEventType(typeName: type) != nil {
      let data = try fields.decode(ActivityMembers.self, forKey: .data)
      (cause, session, activity, registration) = (data.cause, nil, data.activity, nil)
    } else {
      let data = try fields.decode(Members.self, forKey: .data)
      (cause, session, activity, registration) = (data.cause, data.session, nil, data.registration)
    }
  }

  /// - Throws: ``BrokenLine``.
  static func reading(_ body: Data) throws(BrokenLine) -> EventForm {
    try RecordedLine.decoded(EventForm.self, from: body)
  }
}

extension RecordedEvent {
  /// - Throws: ``BrokenLine`` for a type that nobody knows, or one without what it is about.
  init(_ form: EventForm, at moment: UnixTime, deadline: UnixTime?) throws(BrokenLine) {
    let subject: Subject
    if form.type == Event.tokenRegisteredType {
      guard let registration = form.registration else {
        throw BrokenLine("data.registration is missing")
      }
      subject = .token(registration.userID)
    } else if SessionEventType(typeName: form.type) != nil {
      guard let session = form.session else { throw BrokenLine("data.session is missing") }
      subject = .session(session)
    } else if ActivityEventType(typeName: form.type) != nil {
      guard let activity = form.activity else { throw BrokenLine("data.activity is missing") }
      subject = .activity(activity)
    } else {
      throw BrokenLine("type \"\(form.type.prefix(80))\" is not known")
    }
    self.init(
      at: moment, time: form.time, deadline: deadline, type: form.type,
      mutation: form.cause?.mutation, actor: form.cause?.userID, subject: subject)
  }
}
