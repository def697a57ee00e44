import Cryptography
import Foundation
import HTTPServing
import Pipeline
import Vocabulary

extension API {
  private static let notifications = "/api/notifications"
  private static let limits = 1...100
  private static let limitDefault = 50

  static let notificationRoutes: [Route] = [
    Route(.get, notifications) { try $0.listNotifications($1) },
    Route(.post, "\(notifications)/{id}/seen") {
      try $0.mark($1) { notification, now in
        if notification.seenAt == nil { notification.seenAt = now }
      }
    },
    Route(.post, "\(notifications)/{id}/read") {
      try $0.mark($1) { notification, now in
        if notification.readAt == nil { notification.readAt = now }
      }
    },
  ]

  private func listNotifications(_ call: Call) throws -> Work {
    let request = call.request
    let limit = try request.query("limit").map(readLimit) ?? Self.limitDefault
    let cursor = try request.query("after").map(NotificationCursor.init(text:))
    let updatedSince = try request.query("updated_since").map(readMoment)
    return { rows in
      // One more than asked for tells whether there is a next page.
      let found = try rows.notifications(
        of: call.caller.userID, before: cursor.map { ($0.createdAt, $0.id) },
        updatedSince: updatedSince, limit: limit + 1)
      let page = found.prefix(limit)
      let next = found.count > limit ? page.last.map { NotificationCursor($0).text } : nil
      let body = JSON.encoded(
        NotificationPage(notifications: page.map(WrittenNotification.init), next: next))
      let tag = "\"\(Digest.sha256(body).hex.prefix(32))\""
      if Conditions.isKnown(tag, to: request) {
        return Answer(HTTPResponse(status: 304, headers: [("etag", tag)]))
      }
      return Answer(
        HTTPResponse(
          status: 200,
          headers: [
            ("content-type", "application/json"), ("etag", tag),
            ("cache-control", "private, no-cache"),
          ], body: body))
    }
  }

  private func readLimit(_ text: String) throws(Problem) -> Int {
    guard let limit = Int(text), Self.limits.contains(limit) else {
      throw .malformedQuery(
        "limit is \"\(text.prefix(40))\", want \(Self.limits.lowerBound) to"
          + " \(Self.limits.upperBound).")
    }
    return limit
  }

  private func readMoment(_ text: String) throws(Problem) -> UnixTime {
    guard let moment = UnixTime(text) else {
      throw .malformedQuery(
        "updated_since is \"\(text.prefix(40))\", want RFC 3339 such as 2026-06-18T19:12:03Z.")
    }
    return moment
  }

  /// Sets a moment once: the first time wins.
  private func mark(
    _ call: Call, _ change: @escaping (inout Pipeline.Notification, UnixTime) -> Void
  ) throws -> Work {
    try call.expectNoFields()
    return { rows in
      guard let before = try rows.notification(call.id, of: call.caller.userID) else {
        throw Problem.notFound("You have no such notification.")
      }
      var notification = before
      change(&notification, call.now)
      if notification != before {
        notification.updatedAt = call.now
        try rows.save(notification)
      }
      return Answer(.json(200, WrittenNotification(notification)))
    }
  }
}

/// A place in a user's notifications: everything older comes after it. Opaque to callers.
struct NotificationCursor: Hashable {
  let createdAt: UnixTime
  let id: String

  init(_ notification: Pipeline.Notification) {
    createdAt = notification.createdAt
    id = notification.id
  }

  /// - Throws: 400 when it is none of ours.
  init(text: String) throws(Problem) {
    guard let bytes = Base64URL.decode(text),
      let plain = String(validating: bytes, as: UTF8.self),
      let colon = plain.firstIndex(of: ":"), let milliseconds = Int64(plain[..<colon])
    else {
      throw .malformedQuery(
        "after is \"\(text.prefix(40))\", want the next of an earlier answer.")
    }
    createdAt = UnixTime(milliseconds: milliseconds)
    id = String(plain[plain.index(after: colon)...])
  }

  var text: String { Base64URL.encode("\(createdAt.milliseconds):\(id)".utf8) }
}

private struct NotificationPage: Encodable {
  let notifications: [WrittenNotification]
  let next: String?

  enum CodingKeys: String, CodingKey { case notifications, next }

  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(notifications, forKey: .notifications)
    try members.encode(next, forKey: .next)
  }
}

private struct WrittenNotification: Encodable {
  let notification: Pipeline.Notification

  init(_ notification: Pipeline.Notification) { self.notification = notification }

  enum CodingKeys: String, CodingKey {
    case id, type, title, body, icon, link, resolved
    case dedupeKey = "dedupe_key"
    case resolvedReason = "resolved_reason"
    case createdAt = "created_at"
    case seenAt = "seen_at"
    case readAt = "read_at"
  }

  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(notification.id, forKey: .id)
    try members.encode(notification.type, forKey: .type)
    try members.encode(notification.title, forKey: .title)
    try members.encode(notification.body, forKey: .body)
    try members.encode(notification.icon, forKey: .icon)
    try members.encode(notification.link, forKey: .link)
    try members.encode(notification.dedupeKey, forKey: .dedupeKey)
    try members.encode(notification.resolvedReason == nil ? 0 : 1, forKey: .resolved)
    try members.encode(notification.resolvedReason, forKey: .resolvedReason)
    try members.encode(notification.createdAt, forKey: .createdAt)
    try members.encode(notification.seenAt, forKey: .seenAt)
    try members.encode(notification.readAt, forKey: .readAt)
  }
}
