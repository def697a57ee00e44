import Foundation
import Vocabulary

/// One state of one card for one Android phone: what travels on the `fcm` queue.
package struct FCMJob: Hashable, Sendable {
  package enum Event: String, Hashable, Sendable, CaseIterable { case start, update, end }

  /// The same when the event that caused it comes twice.
  package let id: String
  package let event: Event
  package let sessionID: SessionID
  package let userID: UserID
  package let contextKey: ContextKey
  package let rev: Int
  package let token: FCMToken
  /// The app that may get it; nil: whichever has the token.
  package let packageName: String?
  package let isUrgent: Bool
  /// After this the push is pointless and is dropped.
  package let deadline: UnixTime
  /// When the mutation happened: where critical time starts.
  package let causedAt: UnixTime
  package let traceparent: String?
  /// The message's `data`: a JSON object of strings.
  package let data: Data
  /// As FCM counts them; see ``FCMData/bytes``.
  package let dataBytes: Int

  package init(
    id: String, event: Event, sessionID: SessionID, userID: UserID, contextKey: ContextKey,
    rev: Int, token: FCMToken, packageName: String?, isUrgent: Bool, deadline: UnixTime,
    causedAt: UnixTime, traceparent: String?, data: Data, dataBytes: Int
  ) {
    self.id = id
    self.event = event
    self.sessionID = sessionID
    self.userID = userID
    self.contextKey = contextKey
    self.rev = rev
    self.token = token
    self.packageName = packageName
    self.isUrgent = isUrgent
    self.deadline = deadline
    self.causedAt = causedAt
    self.traceparent = traceparent
    self.data = data
    self.dataBytes = dataBytes
  }

  /// - Throws: ``FCMDataTooLarge``: nothing in it is ours to shorten.
  package func checkSize() throws(FCMDataTooLarge) {
    guard dataBytes <= FCMData.bytesMax else { throw FCMDataTooLarge(bytes: dataBytes) }
  }

  /// FCM keeps a message for four weeks at most.
  private static let ttlMax: Int64 = 2_419_200

  /// The body of `messages:send` for a push sent `now`. Data only, so that the app gets it in
  /// the background too; one collapse key per card, so that a phone that was away gets the newest
  /// state alone.
  package func body(now: UnixTime) -> Data {
    var android: [String: JSONValue] = [
      "priority": isUrgent ? "HIGH" : "NORMAL",
      "ttl": .string("\(min(max(0, (deadline - now).components.seconds), Self.ttlMax))s"),
      "collapse_key": .string(CollapseID.of(contextKey.text)),
    ]
    if let packageName { android["restricted_package_name"] = .string(packageName) }
    // Both parts were encoded by us; the data is put in as it came, so that it is not parsed.
    let head: JSONValue = ["android": .object(android), "token": .string(token.text)]
    return Data("{\"message\":".utf8) + head.encoded.dropLast() + Data(",\"data\":".utf8) + data
      + Data("}}".utf8)
  }
}

/// The `data` of a message: all that an app needs to show the card, also after its process ended
/// or its notification went.
package struct FCMData: Sendable {
  /// Of all keys and values together, in UTF-8 bytes.
  ///
  /// Source: research/push-systems.md 5.2.
  package static let bytesMax = 4096

  package var event: FCMJob.Event
  /// `cooksuggest:{session}:{user}`: names the notification.
  package var contextKey: ContextKey
  package var sessionID: SessionID
  /// The attributes type: which of the app's cards it is.
  package var kind: String
  package var rev: Int
  package var causedAt: UnixTime
  /// JSON text.
  package var contentState: Data
  /// JSON text; nil with an end, which starts nothing.
  package var attributes: Data?
  /// Nil: nothing rings.
  package var alert: (title: String, body: String)?
  package var staleAt: UnixTime?
  package var dismissAt: UnixTime?
  /// Members that the app itself reads, as `deeplink`.
  package var beside: [String: String] = [:]

  package init(
    event: FCMJob.Event, contextKey: ContextKey, sessionID: SessionID, kind: String, rev: Int,
    causedAt: UnixTime, contentState: Data
  ) {
    self.event = event
    self.contextKey = contextKey
    self.sessionID = sessionID
    self.kind = kind
    self.rev = rev
    self.causedAt = causedAt
    self.contentState = contentState
  }

  /// Every value is a string; dates are Unix seconds.
  package var members: [String: String] {
    var members = beside
    members["la"] = "1"
    members["event"] = event.rawValue
    members["contextKey"] = contextKey.text
    members["sessionId"] = sessionID.text
    members["kind"] = kind
    members["rev"] = String(rev)
    members["timestamp"] = String(causedAt.seconds)
    members["contentState"] = String(decoding: contentState, as: UTF8.self)
    if let attributes { members["attributes"] = String(decoding: attributes, as: UTF8.self) }
    if let alert {
      members["alertTitle"] = alert.title
      members["alertBody"] = alert.body
    }
    if let staleAt { members["staleAt"] = String(staleAt.seconds) }
    if let dismissAt { members["dismissAt"] = String(dismissAt.seconds) }
    return members
  }

  /// What FCM counts: all keys and values together, in UTF-8 bytes.
  package var bytes: Int {
    members.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
  }

  /// A JSON object of strings.
  package var encoded: Data { JSONValue.object(members.mapValues { .string($0) }).encoded }
}

/// FCM takes no such message.
package struct FCMDataTooLarge: Error, Hashable, CustomStringConvertible {
  /// Of all keys and values together, in UTF-8 bytes.
  package let bytes: Int

  package var description: String {
    "the data of an FCM message has \(bytes) bytes, want at most \(FCMData.bytesMax)"
  }
}
