import Vocabulary

/// What the invitation to one session looks like, at one moment, on its three channels.
struct InvitationChannels {
  /// Its record in the inbox, as the phone's bell shows it; nil without one.
  let record: JSONValue?
  /// How many records there are.
  let records: Int
  /// Alert banners on the phone.
  let banners: Int
  /// Notifications in the browser, from Web Push.
  let webNotifications: Int
  /// Whether the browser's bell shows the record grey too.
  let isGreyInBrowser: Bool
  /// Sounds that the phone ever made.
  let sounds: Int

  /// `phone` and `browser` as the simulator's control API tells them.
  init(session: String, phone: JSONValue, browser: JSONValue) {
    let key = JSONValue.string("cs-invite-\(session)")
    func all(_ list: JSONValue?) -> [JSONValue] {
      guard case .array(let items)? = list else { return [] }
      return items.filter { $0["dedupe_key"] == key }
    }
    let records = all(phone["bell"]?["notifications"])
    self.records = records.count
    record = records.first
    banners = all(phone["banners"]).count
    webNotifications = all(browser["notifications"]).count
    isGreyInBrowser = all(browser["bell"]?["notifications"]).first?["resolved"] == 1
    if case .integer(let count)? = phone["counts"]?["sounds"] {
      sounds = Int(count)
    } else {
      sounds = 0
    }
  }

  /// How many of the three show the invitation, once each.
  var shown: Int { [records, banners, webNotifications].count { $0 == 1 } }

  /// Whether it is over everywhere: grey in both bells, and its banner taken away.
  var isGrey: Bool { record?["resolved"] == 1 && isGreyInBrowser && banners == 0 }

  /// Why it is over; empty while it is not.
  var reason: String { text("resolved_reason") }

  /// For the terminal.
  var lines: [String] {
    let state = record?["resolved"] == 1 ? "grey: \(reason)" : "new"
    return [
      "inbox    │ \(text("icon")) \(text("title")) │ \(text("link")) │ \(state)",
      "alert    │ \(banners == 0 ? "no banner" : "\(banners) banner on the phone")",
      "Web Push │ \(webNotifications) in the browser\(isGreyInBrowser ? ", grey" : "")",
    ].map { "      \($0)" }
  }

  private func text(_ name: String) -> String {
    if case .string(let text)? = record?[name] { text } else { "" }
  }
}
