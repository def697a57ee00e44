import Cryptography
import Vocabulary

/// Where APNs delivers: one device, or one Live Activity on it.
///
/// Its length varies and must not be assumed; one of a Live Activity had 160 digits.
/// Source: research on `didRegisterForRemoteNotificationsWithDeviceToken`, developer.apple.com.
package struct PushToken: Hashable, Sendable {
  /// The longest token taken, in digits: far above what APNs was ever seen to give.
  package static let digitsMax = 512

  /// Lower-case hexadecimal digits, an even number of them.
  package let hex: String

  /// - Throws: ``PushTokenError`` when `hex` is empty, too long, has an odd number of digits, or
  ///   holds another character.
  package init(hex: String) throws(PushTokenError) {
    guard !hex.isEmpty else { throw .empty }
    guard hex.utf8.count <= Self.digitsMax else { throw .tooLong(digits: hex.utf8.count) }
    guard hex.utf8.allSatisfy(\.isHexDigit) else { throw .notHexadecimal }
    guard hex.utf8.count.isMultiple(of: 2) else { throw .oddLength(digits: hex.utf8.count) }
    self.hex = hex.utf8.contains { $0 < 0x61 && $0 > 0x39 } ? hex.lowercased() : hex
  }

  /// Eight digits that name the token in logs and records. Whoever holds a whole token can name
  /// that device, so nothing else ever leaves the registry.
  package var fingerprint: String { String(Digest.sha256(hex).hex.prefix(8)) }
}

extension PushToken: CustomStringConvertible {
  package var description: String { fingerprint }
}

package enum PushTokenError: Error, Hashable, CustomStringConvertible {
  case empty
  case tooLong(digits: Int)
  case oddLength(digits: Int)
  case notHexadecimal

  package var description: String {
    switch self {
    case .empty: "is empty; want an even number of hexadecimal digits"
    case .tooLong(let digits): "has \(digits) digits; want at most \(PushToken.digitsMax)"
    case .oddLength(let digits): "has \(digits) digits; want an even number"
    case .notHexadecimal: "holds something other than hexadecimal digits"
    }
  }
}

extension UInt8 {
  fileprivate var isHexDigit: Bool {
    (48...57).contains(self) || (97...102).contains(self) || (65...70).contains(self)
  }
}

/// What a token may be used for. The three never mix: an ordinary alert sent to a Live Activity
/// token answers `DeviceTokenNotForTopic`.
package enum TokenKind: String, Codable, Hashable, Sendable, CaseIterable {
  case alert
  case pushToStart = "la-pushToStart"
  case update = "la-update"

  /// Reads our names and those of Shiny.Mobile.LiveActivities.
  package init?(name: String) {
    switch name {
    case "alert", "Device": self = .alert
    case "la-pushToStart", "LiveActivityStart": self = .pushToStart
    case "la-update", "LiveActivityUpdate": self = .update
    default: return nil
    }
  }
}

/// Which of Apple's two services a token belongs to. TestFlight builds are production.
package enum PushEnvironment: String, Codable, Hashable, Sendable, CaseIterable {
  case production, sandbox
}
