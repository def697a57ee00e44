import Vocabulary

/// A refusal as the services of today's browsers word it: Mozilla's `errno`, Apple's `reason`.
///
/// Source: research/push-systems.md 4.1 and 4.4.
package struct WebPushRefusal: Error, Hashable, Sendable {
  package let status: Int
  package let reason: String
  /// Mozilla's number; nil where it has none.
  package let errno: Int?
  /// What was found and what was wanted.
  package let message: String

  package init(_ status: Int, _ reason: String, errno: Int? = nil, _ message: String = "") {
    self.status = status
    self.reason = reason
    self.errno = errno
    self.message = message
  }

  var body: JSONValue {
    var members: [String: JSONValue] = [
      "code": .integer(Int64(status)), "reason": .string(reason),
    ]
    if let errno { members["errno"] = .integer(Int64(errno)) }
    if !message.isEmpty { members["message"] = .string(message) }
    return .object(members)
  }

  static let methodNotAllowed = WebPushRefusal(405, "MethodNotAllowed", "want POST")
  static let neverSubscribed = WebPushRefusal(404, "NotFound", errno: 102, "no such subscription")
  static let unsubscribed = WebPushRefusal(410, "Unsubscribed", errno: 106, "want another one")

  static func duplicated(_ name: String) -> WebPushRefusal {
    WebPushRefusal(400, "DuplicateHeaders", "\(name) stands twice")
  }

  static func badTTL(_ given: String?) -> WebPushRefusal {
    guard let given else { return WebPushRefusal(400, "MissingTtl", errno: 111, "want TTL") }
    return WebPushRefusal(400, "BadTtl", errno: 114, "TTL is \(given.prefix(40)), want digits")
  }

  static func badUrgency(_ given: String) -> WebPushRefusal {
    WebPushRefusal(
      400, "BadUrgency", "Urgency is \(given.prefix(40)), want very-low, low, normal or high")
  }

  static func badTopic(_ message: String) -> WebPushRefusal {
    WebPushRefusal(400, "BadWebPushTopic", errno: 113, message)
  }

  static func badEncoding(_ message: String) -> WebPushRefusal {
    WebPushRefusal(400, "BadEncryption", errno: 110, message)
  }

  static func tooLarge(bytes: Int) -> WebPushRefusal {
    WebPushRefusal(
      413, "PayloadTooLarge", errno: 104,
      "the body has \(bytes) bytes, want at most \(WebPushRules.bodyBytesMax)")
  }

  static let missingToken = WebPushRefusal(
    401, "MissingVapid", errno: 109, "want Authorization: vapid t=…, k=…")

  static func badToken(_ message: String) -> WebPushRefusal {
    WebPushRefusal(403, "BadJwtToken", errno: 109, message)
  }

  static let otherKey = WebPushRefusal(
    400, "VapidPkHashMismatch", "the subscription was made with another key")
}
