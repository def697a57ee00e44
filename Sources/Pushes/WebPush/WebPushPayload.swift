import Foundation
import Vocabulary

/// The plaintext of a Web Push: one JSON that a browser with Declarative Web Push shows by itself,
/// and that a service worker of any other reads as `event.data.json()`.
///
/// Source: research/push-systems.md 4.5; github.com/WebKit/explainers, Declarative Web Push.
package struct WebPushPayload: Hashable, Sendable {
  package let title: String
  package let body: String
  /// Path within the web origin, `/cook-suggest/{session}`.
  package let link: String
  package let dedupeKey: String
  package let sessionID: SessionID
  /// BCP 47, `de`.
  package let language: String
  /// What the bell shows beside the title, `✨`; goes into `data.icon`.
  package let icon: String
  /// A picture within the web origin for the notification itself; nil: the browser's own.
  package let iconPath: String?
  /// What the app's badge should say; nil when it is not known.
  package let badge: Int?

  package init(
    title: String, body: String, link: String, dedupeKey: String, sessionID: SessionID,
    language: String, icon: String, iconPath: String? = Self.iconPath, badge: Int? = nil
  ) {
    self.title = title
    self.body = body
    self.link = link
    self.dedupeKey = dedupeKey
    self.sessionID = sessionID
    self.language = language
    self.icon = icon
    self.iconPath = iconPath
    self.badge = badge
  }

  /// Where the web app serves the picture of its notifications.
  package static let iconPath = "/icons/notification.png"

  /// The longest plaintext that is made, in UTF-8 bytes: bridges to phones pass less than the 3993
  /// octets that fit a record.
  package static let bytesMax = 2800
  /// Texts longer than this are cut, in UTF-8 bytes; what JSON must escape is cut further.
  private static let textBytesMax = 1024
  private static let textBytesMin = 32
  private static let shortTitleBytesMax = 120

  /// The plaintext, with links made absolute. Text that does not fit is shortened.
  ///
  /// - Throws: ``PayloadTooLarge`` when it still does not fit.
  package func encoded(origin: WebOrigin) throws(PayloadTooLarge) -> Data {
    var limit = Self.textBytesMax
    var payload = encoded(origin: origin, textBytesMax: limit)
    let original = payload.count
    while payload.count > Self.bytesMax {
      guard limit > Self.textBytesMin else {
        throw PayloadTooLarge(bytes: original, shortest: payload.count)
      }
      limit /= 2
      payload = encoded(origin: origin, textBytesMax: limit)
    }
    return payload
  }

  private func encoded(origin: WebOrigin, textBytesMax limit: Int) -> Data {
    var notification: [String: JSONValue] = [
      "title": .string(title.shortened(toBytes: limit)),
      "body": .string(body.shortened(toBytes: limit)),
      "navigate": .string(origin.url(of: link)),
      "lang": .string(language),
      "dir": "ltr",
      "tag": .string(dedupeKey),
      "silent": false,
      "data": [
        "link": .string(link), "dedupe_key": .string(dedupeKey),
        "session_id": .string(sessionID.text), "icon": .string(icon),
      ],
    ]
    if let iconPath { notification["icon"] = .string(origin.url(of: iconPath)) }
    var payload: [String: JSONValue] = [
      "web_push": 8030, "notification": .object(notification), "mutable": true,
    ]
    if let badge { payload["app_badge"] = .integer(Int64(badge)) }
    return JSONValue.object(payload).encoded
  }

  /// The same with what can be left out left out, for a service that found it too large; nil when
  /// `payload` is not one of ours.
  package static func shortForm(of payload: Data) -> Data? {
    // What is no JSON is not ours, whatever else is wrong with it.
    guard let whole = try? JSONValue(parsing: payload), let notification = whole["notification"],
      case .string(let title)? = notification["title"], let navigate = notification["navigate"]
    else { return nil }
    var short: [String: JSONValue] = [
      "title": .string(title.shortened(toBytes: shortTitleBytesMax)), "navigate": navigate,
    ]
    for name in ["tag", "data"] { short[name] = notification[name] }
    let form: JSONValue = ["web_push": 8030, "notification": .object(short)]
    return form.encoded
  }
}
