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
    static let context = "x-context-key"
    static let rev = "x-rev"
    static let collapse = "apns-collapse-id"
    /// True on an update that lights the screen up; else absent.
    static let alert = "x-alert"
    /// On a push to a channel, whose id `x-token` spells: whether Apple keeps the newest.
    static let channelStoresNewest = "x-channel-stores-newest"
  }

  private static let typePrefix = "push."

  package var message: Message {
    var headers: MessageHeaders = [
      Header.token: .text(token.hex),
      Header.environment: .text(environment.rawValue),
      JobHeader.session: .text(sessionID.text),
      JobHeader.user: .text(userID.text),
      Header.rev: .integer(Int64(rev)),
      Pipeline.Event.Header.deadline: .integer(deadline.milliseconds),
      JobHeader.causedAt: .integer(causedAt.milliseconds),
    ]
    if let bundleID { headers[Header.bundle] = .text(bundleID) }
    if let contextKey { headers[Header.context] = .text(contextKey.text) }
    if let collapseID { headers[Header.collapse] = .text(collapseID) }
    if let dedupeKey { headers[JobHeader.dedupe] = .text(dedupeKey) }
    if hasAlert { headers[Header.alert] = .flag(true) }
    if let channelStoresNewest {
      headers[Header.channelStoresNewest] = .flag(channelStoresNewest)
    }
    if let traceparent { headers[Pipeline.Event.Header.traceparent] = .text(traceparent) }
    return Message(
      id: id, type: Self.typePrefix + event.rawValue, contentType: "application/json",
      headers: headers, body: payload, timestamp: causedAt)
  }

  /// - Throws: ``UnreadableJob`` naming the header that is missing or wrong.
  package convenience init(reading message: Message) throws(UnreadableJob) {
    guard message.type.hasPrefix(Self.typePrefix),
      let event = PushJob.Event(rawValue: String(message.type.dropFirst(Self.typePrefix.count)))
    else { throw UnreadableJob(description: "type \"\(message.type)\" is not a push job") }
    guard LiveActivityPayload.isOpening(message.body) else {
      throw UnreadableJob(description: "body does not begin with an aps object")
    }
    let environmentName = try message.requiredText(Header.environment)
    guard let environment = PushEnvironment(rawValue: environmentName) else {
      throw UnreadableJob(
        description: "\(Header.environment) is \"\(environmentName)\", want production or sandbox")
    }
    self.init(
      id: try message.jobID(), event: event,
      sessionID: try message.requiredID(JobHeader.session),
      userID: try message.requiredID(JobHeader.user),
      contextKey: try message.optionalID(Header.context),
      rev: Int(clamping: try message.requiredInteger(Header.rev)),
      hasAlert: message.headers[Header.alert] == .flag(true),
      token: try Self.token(of: message), environment: environment,
      bundleID: try message.pushHeader(Header.bundle, bytesMax: BundleID.charactersMax),
      collapseID: try message.pushHeader(Header.collapse, bytesMax: CollapseID.bytesMax),
      dedupeKey: try message.dedupeKey(),
      deadline: UnixTime(
        milliseconds: try message.requiredInteger(Pipeline.Event.Header.deadline)),
      causedAt: UnixTime(milliseconds: try message.requiredInteger(JobHeader.causedAt)),
      traceparent: message.traceparent, payload: message.body,
      channelStoresNewest: Self.flag(Header.channelStoresNewest, of: message))
    guard !isLiveActivity || contextKey != nil else {
      throw UnreadableJob(description: "header \(Header.context) is missing")
    }
    guard event != .resolve || dedupeKey != nil else {
      throw UnreadableJob(description: "header \(JobHeader.dedupe) is missing")
    }
  }

  private static func flag(_ name: String, of message: Message) -> Bool? {
    guard case .flag(let flag)? = message.headers[name] else { return nil }
    return flag
  }

  private static func token(of message: Message) throws(UnreadableJob) -> PushToken {
    let hex = try message.requiredText(Header.token)
    do {
      return try PushToken(hex: hex)
    } catch {
      throw UnreadableJob(description: "header \(Header.token) \(error)")
    }
  }
}
