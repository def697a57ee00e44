import Foundation
import Vocabulary

/// One message of `messages:send`, held to FCM's rules.
package struct FCMMessage: Hashable, Sendable {
  package let token: String
  package let data: [String: String]
  package let collapseKey: String?
  /// `HIGH` or `NORMAL`.
  package let priority: String
  package let packageName: String?
  /// In bytes, keys and values.
  package let bytes: Int

  /// Source: research/push-systems.md 5.2.
  private static let dataBytesMax = 4096

  /// - Throws: ``FCMRefusal`` 400 that says what FCM would not take.
  init(body: [UInt8]) throws(FCMRefusal) {
    func refusal(_ words: String) -> FCMRefusal {
      FCMRefusal(400, state: "INVALID_ARGUMENT", errorCode: "INVALID_ARGUMENT", words)
    }
    guard let json = try? JSONValue(parsing: Data(body)), let message = json["message"],
      case .string(let token)? = message["token"], case .object(let members)? = message["data"]
    else { throw refusal("the body has no message with token and data") }
    var data: [String: String] = [:]
    for (name, value) in members {
      guard case .string(let text) = value else {
        throw refusal("Invalid value at 'message.data[\(name)]' (TYPE_STRING)")
      }
      guard name != "from", !name.hasPrefix("gcm"), !name.hasPrefix("google") else {
        throw refusal("Invalid data payload key: \(name)")
      }
      data[name] = text
    }
    guard message["notification"] == nil else {
      throw refusal("a notification keeps the app from running in the background")
    }
    bytes = data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    guard bytes <= Self.dataBytesMax else { throw refusal("Android message is too big") }
    self.token = token
    self.data = data
    func text(_ value: JSONValue?) -> String? {
      if case .string(let text)? = value { return text }
      return nil
    }
    collapseKey = text(message["android"]?["collapse_key"])
    packageName = text(message["android"]?["restricted_package_name"])
    priority = text(message["android"]?["priority"]) ?? "NORMAL"
    guard ["HIGH", "NORMAL"].contains(priority),
      (text(message["android"]?["ttl"]) ?? "0s").wholeMatch(of: #/\d+s/#) != nil
    else { throw refusal("Invalid value at 'message.android'") }
  }

  var rev: Int? { data["rev"].flatMap { Int($0) } }
}
