import Foundation
import Pushes
import Vocabulary

/// A Web Push job as a message: the body is the plaintext, everything else is in headers.
extension WebPushJob {
  private enum Header {
    static let subscription = "x-subscription"
  }

  package static let messageType = "webpush.notification"

  package var message: Message {
    var headers: MessageHeaders = [
      Header.subscription: .text(subscriptionID.text),
      JobHeader.session: .text(sessionID.text),
      JobHeader.user: .text(userID.text),
      JobHeader.dedupe: .text(dedupeKey),
      Pipeline.Event.Header.deadline: .integer(deadline.milliseconds),
      JobHeader.causedAt: .integer(causedAt.milliseconds),
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
    guard message.body.first == UInt8(ascii: "{") else {
      throw UnreadableJob(description: "body is no JSON object")
    }
    guard let dedupeKey = try message.dedupeKey() else {
      throw UnreadableJob(description: "header \(JobHeader.dedupe) is missing")
    }
    self.init(
      id: try message.jobID(), sessionID: try message.requiredID(JobHeader.session),
      userID: try message.requiredID(JobHeader.user),
      subscriptionID: try message.requiredID(Header.subscription),
      dedupeKey: dedupeKey,
      deadline: UnixTime(
        milliseconds: try message.requiredInteger(Pipeline.Event.Header.deadline)),
      causedAt: UnixTime(milliseconds: try message.requiredInteger(JobHeader.causedAt)),
      traceparent: message.traceparent, payload: message.body)
  }
}
