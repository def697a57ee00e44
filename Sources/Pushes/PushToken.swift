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
  /// Of the digits, made once: on its way one push's token is looked up a dozen times. Differs from
  /// process to process, so that nobody can choose tokens that fall on one place.
  package let hash: Int

  /// - Throws: ``PushTokenError`` when `hex` is empty, too long, has an odd number of digits, or
  ///   holds another character.
  package init(hex: String) throws(PushTokenError) {
    guard !hex.isEmpty else { throw .empty }
    guard hex.utf8.count <= Self.digitsMax else { throw .tooLong(digits: hex.utf8.count) }
    let digits = HexDigits(of: hex)
    guard digits.isAll else { throw .notHexadecimal }
    guard hex.utf8.count.isMultiple(of: 2) else { throw .oddLength(digits: hex.utf8.count) }
    self.hex = digits.hasUpperCase ? hex.lowercased() : hex
    hash = self.hex.hashValue
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.hash == right.hash && left.hex == right.hex
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  /// Eight digits that name the token in logs and records. Whoever holds a whole token can name
  /// that device, so nothing else ever leaves the registry.
  package var fingerprint: String { Digest.sha256(hex).hex(digits: 8) }
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

/// What a text consists of, found in one walk over its bytes.
private struct HexDigits {
  private(set) var isAll = true
  private(set) var hasUpperCase = false

  init(of text: String) {
    var text = text
    text.withUTF8 { bytes in
      for byte in bytes {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): break
        case UInt8(ascii: "A")...UInt8(ascii: "F"): hasUpperCase = true
        default: isAll = false
        }
      }
    }
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
