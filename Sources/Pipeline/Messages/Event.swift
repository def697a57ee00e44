import Activities
import Foundation
import Sessions
import Vocabulary

/// The record of something that happened: a CloudEvent (1.0, structured JSON) on the events
/// exchange.
///
/// It carries the whole session or activity, so that workers need no session table and a recording
/// needs no API. Another program may write it too: unknown extra members are ignored, a missing
/// required one is named.
package struct Event: Hashable, Sendable {
  package static let contentType = "application/cloudevents+json"

  package enum Subject: Hashable, Sendable {
    case session(Session, mutation: String?)
    case activity(Activity, mutation: String?)
    case token(TokenRegistered)
  }

  package let id: EventID
  package let type: String
  package let time: UnixTime
  package let subject: Subject
  /// When what this event causes has become pointless: header `x-deadline`. Nil when the writer
  /// gave none.
  package let deadline: UnixTime?
  package let traceparent: String?
}

/// Somebody's phone registered a token: what it should show may have to be sent to it.
package struct TokenRegistered: Hashable, Sendable, Codable {
  package let userID: UserID
  /// ``Pushes/TokenKind``'s raw value.
  package let kind: String
  package let contextKey: ContextKey?
  /// The token itself stays in the registry.
  package let tokenFingerprint: String

  enum CodingKeys: String, CodingKey {
    case userID = "user_id"
    case kind
    case contextKey = "context_key"
    case tokenFingerprint = "token_fingerprint"
  }
}

/// Why an event cannot be read. Goes into the dead queue with the message.
package struct UnreadableEvent: Error, Hashable, CustomStringConvertible {
  package let description: String
}

// MARK: Reading

extension Event {
  package static let tokenRegisteredType = "token.registered"

  /// - Throws: ``UnreadableEvent`` naming the member that is missing or of the wrong type, or the
  ///   type that nobody knows.
  package init(reading message: Message) throws(UnreadableEvent) {
    let document = try Self.document(of: message)
    let envelope = try Self.decoded(Envelope.self, from: document)
    guard envelope.specversion == "1.0" else {
      throw UnreadableEvent(
        description: "specversion is \"\(envelope.specversion)\", want \"1.0\"")
    }
    id = envelope.id
    type = envelope.type
    time = envelope.time
    deadline = message.integer(Header.deadline).map(UnixTime.init(milliseconds:))
    traceparent = message.traceparent
    if type == Self.tokenRegisteredType {
      let data = try Self.decoded(TokenData.self, from: document)
      subject = .token(data.data.registration)
    } else if SessionEventType(typeName: type) != nil {
      let data = try Self.decoded(SessionData.self, from: document)
      subject = .session(data.data.session, mutation: data.data.cause?.mutation)
    } else if ActivityEventType(typeName: type) != nil {
      let data = try Self.decoded(ActivityData.self, from: document)
      subject = .activity(data.data.activity, mutation: data.data.cause?.mutation)
    } else {
      throw UnreadableEvent(description: "type \"\(type)\" is not known")
    }
  }

  package enum Header {
    package static let traceparent = "traceparent"
    /// Unix milliseconds.
    package static let deadline = "x-deadline"
    /// Names the load test that an event belongs to; no other event has it.
    package static let loadTest = "x-loadtest"
  }

  /// The longest body read, in bytes: twice what the largest activity takes. Read, it takes many
  /// times as much memory, and a worker reads a whole batch at once.
  package static let bodyBytesMax = 8 * 1024 * 1024

  /// The body, read once for the envelope and for what it holds.
  private static func document(of message: Message) throws(UnreadableEvent) -> JSONValue {
    guard message.body.count <= bodyBytesMax else {
      throw UnreadableEvent(
        description: "the body has \(message.body.count) bytes, want at most \(bodyBytesMax)")
    }
    do {
      return try JSONValue(parsing: message.body)
    } catch {
      throw UnreadableEvent(description: "the document is not JSON: \(error)")
    }
  }

  private static func decoded<Body: Decodable>(_ type: Body.Type, from document: JSONValue)
    throws(UnreadableEvent) -> Body
  {
    do {
      return try JSON.decode(type, from: document)
    } catch let error as DecodingError {
      throw UnreadableEvent(description: "\(DecodingProblem(error))")
    } catch {
      throw UnreadableEvent(description: "\(error)")
    }
  }

  private struct Envelope: Codable {
    let specversion: String
    let id: EventID
    let type: String
    let subject: String
    let time: UnixTime
  }

  private struct TokenData: Decodable {
    struct Members: Decodable { let registration: TokenRegistered }
    let data: Members
  }

  private struct Cause: Decodable { let mutation: String? }

  private struct SessionData: Decodable {
    struct Members: Decodable {
      let session: Session
      let cause: Cause?
    }
    let data: Members
  }

  private struct ActivityData: Decodable {
    struct Members: Decodable {
      let activity: Activity
      let cause: Cause?
    }
    let data: Members
  }
}
