import Foundation
import Vocabulary

/// A channel that Apple keeps for one app in one of its services: what is pushed to it comes to
/// every card that listens (iOS 18).
package struct BroadcastChannel: Hashable, Sendable, Codable {
  /// Apple's, opaque, passed on unchanged.
  package let id: String
  /// Apple keeps the newest broadcast for phones that are away; else it keeps none, and takes no
  /// expiration but 0.
  package let storesNewest: Bool
  package let environment: PushEnvironment
  package let bundleID: String
  /// Whether that is the one that the sender is configured with.
  package let isOfConfiguredBundle: Bool

  package init(
    id: String, storesNewest: Bool, environment: PushEnvironment, bundleID: String,
    isOfConfiguredBundle: Bool
  ) {
    self.id = id
    self.storesNewest = storesNewest
    self.environment = environment
    self.bundleID = bundleID
    self.isOfConfiguredBundle = isOfConfiguredBundle
  }

  /// Whether a card that is started with this registration can listen to it.
  package func isHeard(by registration: Registration) -> Bool {
    guard registration.environment == environment else { return false }
    return registration.bundleID.map { $0 == bundleID } ?? isOfConfiguredBundle
  }

  /// Stands for the channel in the registry, where the newest rev that it took is noted as that of
  /// a token: the digits of its id's bytes.
  ///
  /// - Throws: ``PushTokenError`` for an id that is empty or longer than any.
  package func address() throws(PushTokenError) -> PushToken {
    try PushToken(spelling: id)
  }
}

extension PushToken {
  /// Stands for a channel.
  ///
  /// - Throws: ``PushTokenError`` for an id that is empty or longer than any.
  package init(spelling channelID: String) throws(PushTokenError) {
    try self.init(hex: Data(channelID.utf8).hexDigits)
  }

  /// The channel id that these digits spell; nil when they spell no text.
  package var channelID: String? {
    var bytes: [UInt8] = []
    var rest = hex[...]
    while !rest.isEmpty {
      guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

extension Data {
  fileprivate var hexDigits: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// Where a broadcast goes: `POST /4/broadcasts/apps/{bundleID}` with `apns-channel-id`.
package struct BroadcastAddress: Hashable, Sendable {
  package let bundleID: String
  package let channelID: String

  package init(bundleID: String, channelID: String) {
    self.bundleID = bundleID
    self.channelID = channelID
  }
}

extension PushJob {
  /// Nil for a push to a token.
  package func broadcastAddress(bundle configured: String) -> BroadcastAddress? {
    guard isBroadcast, let channelID = token.channelID else { return nil }
    return BroadcastAddress(bundleID: bundleID ?? configured, channelID: channelID)
  }
}
