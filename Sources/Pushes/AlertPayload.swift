import Foundation
import Vocabulary

/// The body of an ordinary alert push: title, body, sound, and our link beside `aps`.
package struct AlertPayload: Hashable, Sendable {
  package let title: String
  package let body: String
  /// Where a tap leads, `/cook-suggest/{session}`: the app reads it as `userInfo["link"]`.
  package let link: String
  /// Lets the app match the banner with its inbox entry.
  package let dedupeKey: String

  package init(title: String, body: String, link: String, dedupeKey: String) {
    self.title = title
    self.body = body
    self.link = link
    self.dedupeKey = dedupeKey
  }

  /// Texts longer than this are cut, in UTF-8 bytes; what JSON must escape is cut further.
  private static let textBytesMax = 1024
  private static let textBytesMin = 32

  /// The body. Text that does not fit is shortened.
  ///
  /// - Throws: ``PayloadTooLarge`` when it still does not fit.
  package func encoded() throws(PayloadTooLarge) -> Data {
    var limit = Self.textBytesMax
    var payload = encoded(textBytesMax: limit)
    let original = payload.count
    while payload.count > LiveActivityPayload.bytesMax {
      guard limit > Self.textBytesMin else {
        throw PayloadTooLarge(bytes: original, shortest: payload.count)
      }
      limit /= 2
      payload = encoded(textBytesMax: limit)
    }
    return payload
  }

  private func encoded(textBytesMax limit: Int) -> Data {
    let alert: JSONValue = [
      "title": .string(title.shortened(toBytes: limit)),
      "body": .string(body.shortened(toBytes: limit)),
    ]
    let payload: JSONValue = [
      "aps": ["alert": alert, "sound": "default"],
      "link": .string(link),
      "dedupe_key": .string(dedupeKey),
    ]
    return payload.encoded
  }
}
