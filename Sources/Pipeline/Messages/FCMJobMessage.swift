import Foundation
import Pushes
import Vocabulary

/// An FCM job as a message: the body is the message's `data`, everything else is in headers.
extension FCMJob {
  private enum Header {
    static let token = PushJob.tokenHeader
    static let packageName = "x-package"
    static let context = "x-context-key"
    static let rev = "x-rev"
    static let dataBytes = "x-data-bytes"
    /// True on what lights the screen up; else absent.
    static let urgent = "x-urgent"
  }

  private static let typePrefix = "fcm."

  package var message: Message {
    var headers: MessageHeaders = [
      Header.token: .text(token.text),
      JobHeader.session: .text(sessionID.text),
      JobHeader.user: .text(userID.text),
      Header.context: .text(contextKey.text),
      Header.rev: .integer(Int64(rev)),
      Header.dataBytes: .integer(Int64(dataBytes)),
      Pipeline.Event.Header.deadline: .integer(deadline.milliseconds),
      JobHeader.causedAt: .integer(causedAt.milliseconds),
    ]
    if let packageName { headers[Header.packageName] = .text(packageName) }
    if isUrgent { headers[Header.urgent] = .flag(true) }
    if let traceparent { headers[Pipeline.Event.Header.traceparent] = .text(traceparent) }
    return Message(
      id: id, type: Self.typePrefix + event.rawValue, contentType: "application/json",
      headers: headers, body: data, timestamp: causedAt)
  }

  /// - Throws: ``UnreadableJob`` naming the header that is missing or wrong.
  package init(reading message: Message) throws(UnreadableJob) {
    guard message.type.hasPrefix(Self.typePrefix),
      let event = FCMJob.Event(rawValue: String(message.type.dropFirst(Self.typePrefix.count)))
    else { throw UnreadableJob(description: "type \"\(message.type)\" is not an FCM job") }
    guard message.body.first == UInt8(ascii: "{") else {
      throw UnreadableJob(description: "body is no JSON object")
    }
    let token: FCMToken
    do {
      token = try FCMToken(try message.requiredText(Header.token))
    } catch let error as FCMTokenError {
      throw UnreadableJob(description: "header \(Header.token) \(error)")
    } catch let error as UnreadableJob {
      throw error
    } catch {
      throw UnreadableJob(description: "\(error)")
    }
    self.init(
      id: try message.jobID(), event: event,
      sessionID: try message.requiredID(JobHeader.session),
      userID: try message.requiredID(JobHeader.user),
      contextKey: try message.requiredID(Header.context),
      rev: Int(clamping: try message.requiredInteger(Header.rev)), token: token,
      packageName: message.text(Header.packageName),
      isUrgent: message.headers[Header.urgent] == .flag(true),
      deadline: UnixTime(
        milliseconds: try message.requiredInteger(Pipeline.Event.Header.deadline)),
      causedAt: UnixTime(milliseconds: try message.requiredInteger(JobHeader.causedAt)),
      traceparent: message.traceparent, data: message.body,
      dataBytes: Int(clamping: try message.requiredInteger(Header.dataBytes)))
  }
}
