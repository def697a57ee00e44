import Foundation
import Vocabulary

/// The body of a silent background push: the app takes the banner of this notification away.
///
/// Source: developer.apple.com, "Pushing background updates to your App": `content-available` alone
/// in `aps`, no alert, badge or sound.
package struct ResolvePayload: Hashable, Sendable {
  /// How long the banner is worth taking away: the user may look at it at any time, but a phone
  /// that was off this long shows many older ones too.
  package static let life: Duration = .seconds(3600)

  /// Of the notification that is over.
  package let dedupeKey: String

  package init(dedupeKey: String) { self.dedupeKey = dedupeKey }

  /// - Throws: ``PayloadTooLarge`` for a key that APNs has no room for.
  package func encoded() throws(PayloadTooLarge) -> Data {
    let payload: JSONValue = [
      "aps": ["content-available": 1], "resolve": .string(dedupeKey),
    ]
    let body = payload.encoded
    guard body.count <= LiveActivityPayload.bytesMax else {
      throw PayloadTooLarge(bytes: body.count, shortest: body.count)
    }
    return body
  }
}
