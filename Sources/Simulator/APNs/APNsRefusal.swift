import Vocabulary

/// A refusal in Apple's words: the status and the `reason` of the body.
/// Source: research on "Handling notification responses from APNs", developer.apple.com.
package struct APNsRefusal: Error, Hashable, Sendable {
  package let status: Int
  package let reason: String
  /// Only with 410: since when the token is dead, in milliseconds since 1970.
  package let timestamp: Int64?

  package init(_ status: Int, _ reason: String, timestamp: Int64? = nil) {
    self.status = status
    self.reason = reason
    self.timestamp = timestamp
  }

  /// The JSON body that Apple documents.
  package var body: JSONValue {
    var members: [String: JSONValue] = ["reason": .string(reason)]
    if let timestamp { members["timestamp"] = .integer(timestamp) }
    return .object(members)
  }

  static let badCollapseID = APNsRefusal(400, "BadCollapseId")
  static let badDeviceToken = APNsRefusal(400, "BadDeviceToken")
  static let badExpirationDate = APNsRefusal(400, "BadExpirationDate")
  static let badMessageID = APNsRefusal(400, "BadMessageId")
  static let badPath = APNsRefusal(404, "BadPath")
  static let badPriority = APNsRefusal(400, "BadPriority")
  static let badTopic = APNsRefusal(400, "BadTopic")
  static let deviceTokenNotForTopic = APNsRefusal(400, "DeviceTokenNotForTopic")
  static let duplicateHeaders = APNsRefusal(400, "DuplicateHeaders")
  static let expiredProviderToken = APNsRefusal(403, "ExpiredProviderToken")
  static let invalidProviderToken = APNsRefusal(403, "InvalidProviderToken")
  static let invalidPushType = APNsRefusal(400, "InvalidPushType")
  static let methodNotAllowed = APNsRefusal(405, "MethodNotAllowed")
  static let missingDeviceToken = APNsRefusal(400, "MissingDeviceToken")
  static let missingProviderToken = APNsRefusal(403, "MissingProviderToken")
  static let missingTopic = APNsRefusal(400, "MissingTopic")
  static let payloadEmpty = APNsRefusal(400, "PayloadEmpty")
  static let payloadTooLarge = APNsRefusal(413, "PayloadTooLarge")
  static let tooManyProviderTokenUpdates = APNsRefusal(429, "TooManyProviderTokenUpdates")
  static func unregistered(since milliseconds: Int64) -> APNsRefusal {
    APNsRefusal(410, "Unregistered", timestamp: milliseconds)
  }
}
