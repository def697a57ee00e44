import Foundation
import Pushes
import Vocabulary

/// A Web Push job as a message: the body is the plaintext, everything else is in headers.
extension WebPushJob {
  private enum Header {
    static let subscription = "x-subscription"
    static let session = "x-session"
    static let user = "x-user"
    static let dedupe = "x-dedupe-key"
    /// Unix milliseconds.
    static let causedAt = "x-caused-at"
  }

  package static let messageType = "webpush.notification"

  package var message: Message {
    var headers: [String: HeaderValue] = [
      Header.subscription: .text(subscriptionID.text),
      Header.session: .text(sessionID.text),
      Header.user: .text(userID.text),
      Header.dedupe: .text(dedupeKey),
      Pipeline.Event.Header.deadline: .integer(deadline.milliseconds),
      Header.causedAt: .integer(causedAt.milliseconds),
    ]
    if let traceparent { headers[Pipeline.Event.Header.traceparent] = .text(traceparent) }
    return Message(
      id: id, type: Self.messageType, contentType: "application/json", headers: headers,
      body: payload, timestamp: causedAt)
  }

  /// - Throws: ``UnreadableJob`` naming the header that is missing or wrong.
  package init(reading message: Message) throws(UnreadableJob) {
    guard message.type == Self.messageType else {
      throw UnreadableJob(description: "type \"\(message.type)\" is not a Web Push job")
    }
    guard UUID(uuidString: message.id) != nil, message.id == message.id.lowercased() else {
      throw UnreadableJob(description: "message_id \"\(message.id)\" is not a lower-case UUID")
    }
    guard message.body.first == UInt8(ascii: "{") else {
      throw UnreadableJob(description: "body is no JSON object")
    }
    self.init(
      id: message.id, sessionID: SessionID(try Self.text(Header.session, of: message)),
      userID: UserID(try Self.text(Header.user, of: message)),
      subscriptionID: SubscriptionID(try Self.text(Header.subscription, of: message)),
      dedupeKey: try Self.text(Header.dedupe, of: message),
      deadline: UnixTime(
        milliseconds: try Self.integer(Pipeline.Event.Header.deadline, of: message)),
      causedAt: UnixTime(milliseconds: try Self.integer(Header.causedAt, of: message)),
      traceparent: message.text(Pipeline.Event.Header.traceparent), payload: message.body)
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
