import Cryptography
import Vocabulary

/// Where FCM delivers: one installation of an Android app. Opaque, and changed by FCM at will.
package struct FCMToken: Hashable, Sendable, CustomStringConvertible {
  /// The longest token taken, in characters: FCM was seen to give some 160.
  package static let charactersMax = 1024

  package let text: String

  /// - Throws: ``FCMTokenError`` when it is empty, too long, or holds a space or another character
  ///   that no token has.
  package init(_ text: String) throws(FCMTokenError) {
    let count = text.utf8.count
    guard (1...Self.charactersMax).contains(count) else { throw .length(count) }
    // Letters, digits and punctuation of ASCII.
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .character }
    self.text = text
  }

  /// Eight digits that name it in logs and records: whoever holds the token can name that phone.
  package var fingerprint: String { Digest.sha256(text).hex(digits: 8) }
  package var description: String { fingerprint }
}

package enum FCMTokenError: Error, Hashable, CustomStringConvertible {
  case length(Int)
  case character

  package var description: String {
    switch self {
    case .length(let count):
      "has \(count) characters, want 1 to \(FCMToken.charactersMax)"
    case .character: "holds a character that no FCM token has, want visible ASCII"
    }
  }
}

/// One row of the registry of Android phones: what a phone told us about its token.
///
/// A token belongs to one installation of an app: when another user registers it, it moves. A new
/// token replaces the old one of the same (user, device, package); without a device id nothing is
/// replaced.
package struct FCMRegistration: Hashable, Sendable {
  package let userID: UserID
  package let token: FCMToken
  package let deviceID: String?
  /// The app's package name, `com.example.app`; nil: whichever app has the token.
  package let packageName: String?
  package let registeredAt: UnixTime

  package init(
    userID: UserID, token: FCMToken, deviceID: String?, packageName: String?, registeredAt: UnixTime
  ) {
    self.userID = userID
    self.token = token
    self.deviceID = deviceID
    self.packageName = packageName
    self.registeredAt = registeredAt
  }
}
