import Foundation
import Pushes
import Vocabulary

/// A push job as a message: the body is what APNs gets, but for the stamp; everything the sender
/// must know besides is in headers, so that it never parses the body.
extension PushJob {
  /// The header that holds a whole push token: never shown.
  package static let tokenHeader = "x-token"

  private enum Header {
    static let token = tokenHeader
    static let environment = "x-environment"
    static let bundle = "x-bundle"
    static let session = "x-session"
    static let user = "x-user"
    static let context = "x-context-key"
    static let rev = "x-rev"
    static let collapse = "apns-collapse-id"
    static let dedupe = "x-dedupe-key"
    /// Unix milliseconds.
    static let causedAt = "x-caused-at"
  }

  private static let typePrefix = "push."

  package var message: Message {
    var headers: [String: HeaderValue] = [
      Header.token: .text(token.hex),
      Header.environment: .text(environment.rawValue),
      Header.session: .text(sessionID.text),
      Header.user: .text(userID.text),
      Header.rev: .integer(Int64(rev)),
      Pipeline.Event.Header.deadline: .integer(deadline.milliseconds),
      Header.causedAt: .integer(causedAt.milliseconds),
    ]
    if let bundleID { headers[Header.bundle] = .text(bundleID) }
    if let contextKey { headers[Header.context] = .text(contextKey.text) }
    if let collapseID { headers[Header.collapse] = .text(collapseID) }
    if let dedupeKey { headers[Header.dedupe] = .text(dedupeKey) }
    if let traceparent { headers[Pipeline.Event.Header.traceparent] = .text(traceparent) }
    return Message(
      id: id, type: Self.typePrefix + event.rawValue, contentType: "application/json",
      headers: headers, body: payload, timestamp: causedAt)
  }

  /// - Throws: ``UnreadableJob`` naming the header that is missing or wrong.
  package init(reading message: Message) throws(UnreadableJob) {
    guard message.type.hasPrefix(Self.typePrefix),
      let event = PushJob.Event(rawValue: String(message.type.dropFirst(Self.typePrefix.count)))
    else { throw UnreadableJob(description: "type \"\(message.type)\" is not a push job") }
    guard UUID(uuidString: message.id) != nil, message.id == message.id.lowercased() else {
      throw UnreadableJob(description: "message_id \"\(message.id)\" is not a lower-case UUID")
    }
    guard message.body.starts(with: Self.payloadOpening) else {
      throw UnreadableJob(description: "body does not begin with an aps object")
    }
    let environmentName = try Self.text(Header.environment, of: message)
    guard let environment = PushEnvironment(rawValue: environmentName) else {
      throw UnreadableJob(
        description: "\(Header.environment) is \"\(environmentName)\", want production or sandbox")
    }
    self.init(
      id: message.id, event: event,
      sessionID: SessionID(try Self.text(Header.session, of: message)),
      userID: UserID(try Self.text(Header.user, of: message)),
      contextKey: message.text(Header.context).map { ContextKey($0) },
      rev: Int(clamping: try Self.integer(Header.rev, of: message)),
      token: try Self.token(of: message), environment: environment,
      bundleID: message.text(Header.bundle), collapseID: message.text(Header.collapse),
      dedupeKey: message.text(Header.dedupe),
      deadline: UnixTime(
        milliseconds: try Self.integer(Pipeline.Event.Header.deadline, of: message)),
      causedAt: UnixTime(milliseconds: try Self.integer(Header.causedAt, of: message)),
      traceparent: message.text(Pipeline.Event.Header.traceparent), payload: message.body)
    guard !isLiveActivity || contextKey != nil else {
      throw UnreadableJob(description: "header \(Header.context) is missing")
    }
    guard event != .resolve || dedupeKey != nil else {
      throw UnreadableJob(description: "header \(Header.dedupe) is missing")
    }
  }

  private static let payloadOpening = Data(#"{"aps":{"#.utf8)

  private static func token(of message: Message) throws(UnreadableJob) -> PushToken {
    let hex = try text(Header.token, of: message)
    do {
      return try PushToken(hex: hex)
    } catch {
      throw UnreadableJob(description: "header \(Header.token) \(error)")
    }
  }

  private static func text(_ header: String, of message: Message) throws(UnreadableJob) -> String {
    guard let value = message.text(header) else {
      throw UnreadableJob(description: "header \(header) is missing")
    }
    return value
  }

  private static func integer(_ header: String, of message: Message) throws(UnreadableJob)
    -> Int64
  {
    guard let value = message.integer(header) else {
      throw UnreadableJob(description: "header \(header) is missing or not an integer")
    }
    return value
  }
}

/// Why a push job cannot be read. Goes into the dead queue with the message.
package struct UnreadableJob: Error, Hashable, CustomStringConvertible {
  package let description: String
}
