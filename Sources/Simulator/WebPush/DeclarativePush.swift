import Foundation
import Vocabulary

/// What a browser makes of the plaintext of a push: Declarative Web Push, which our service worker
/// reads too.
///
/// Source: github.com/WebKit/explainers, Declarative Web Push; research/push-systems.md 4.5.
package struct DeclarativePush: Hashable, Sendable {
  /// The number that says that it is declarative.
  package static let magic: JSONValue = 8030

  package let title: String
  package let body: String
  /// Absolute: where a click leads.
  package let navigate: String
  package let tag: String?
  package let icon: String?
  package let isSilent: Bool
  /// `data.link` and `data.dedupe_key`, which are ours.
  package let link: String?
  package let dedupeKey: String?
  package let appBadge: Int?
  package let json: JSONValue

  /// - Throws: the finding that names the member that is wrong.
  package init(reading plaintext: [UInt8]) throws(Finding.Failure) {
    let json: JSONValue
    do {
      json = try JSONValue(parsing: Data(plaintext))
    } catch {
      throw Finding.Failure(.declarative, "the plaintext is not JSON: \(error)")
    }
    guard json["web_push"] == Self.magic else {
      throw Self.failure("web_push", json["web_push"], want: "the number 8030")
    }
    guard let notification = json["notification"], case .object = notification else {
      throw Self.failure("notification", json["notification"], want: "an object")
    }
    guard let title = try Self.text("title", in: notification), !title.isEmpty else {
      throw Self.failure("notification.title", notification["title"], want: "words")
    }
    guard let navigate = try Self.text("navigate", in: notification), Self.isAbsolute(navigate)
    else {
      throw Self.failure("notification.navigate", notification["navigate"], want: "an absolute URL")
    }
    self.title = title
    self.navigate = navigate
    body = try Self.text("body", in: notification) ?? ""
    tag = try Self.text("tag", in: notification)
    icon = try Self.text("icon", in: notification)
    if let icon, !Self.isAbsolute(icon) {
      throw Self.failure("notification.icon", .string(icon), want: "an absolute URL")
    }
    for (name, allowed) in [("dir", ["auto", "ltr", "rtl"])] {
      if let given = try Self.text(name, in: notification), !allowed.contains(given) {
        throw Self.failure("notification.\(name)", .string(given), want: "one of \(allowed)")
      }
    }
    isSilent = try Self.flag("silent", in: notification, named: "notification.silent") ?? false
    _ = try Self.flag("mutable", in: json, named: "mutable")
    switch json["app_badge"] {
    case nil: appBadge = nil
    case .integer(let count) where (0...Int64(Int32.max)).contains(count): appBadge = Int(count)
    case let other: throw Self.failure("app_badge", other, want: "a number from 0")
    }
    let data = notification["data"] ?? [:]
    link = try Self.text("link", in: data)
    dedupeKey = try Self.text("dedupe_key", in: data)
    try Self.checkActions(notification["actions"])
    self.json = json
  }

  private static func checkActions(_ actions: JSONValue?) throws(Finding.Failure) {
    guard let actions else { return }
    guard case .array(let all) = actions else {
      throw failure("notification.actions", actions, want: "an array")
    }
    for action in all {
      guard try text("action", in: action) != nil, try text("title", in: action) != nil,
        let navigate = try text("navigate", in: action), isAbsolute(navigate)
      else {
        throw failure("notification.actions", action, want: "action, title and absolute navigate")
      }
    }
  }

  private static func text(_ name: String, in object: JSONValue) throws(Finding.Failure) -> String?
  {
    switch object[name] {
    case nil: return nil
    case .string(let text): return text
    case let other: throw failure(name, other, want: "text")
    }
  }

  private static func flag(_ name: String, in object: JSONValue, named: String)
    throws(Finding.Failure) -> Bool?
  {
    switch object[name] {
    case nil: return nil
    case .bool(let flag): return flag
    case let other: throw failure(named, other, want: "true or false")
    }
  }

  private static func isAbsolute(_ text: String) -> Bool {
    guard let url = URL(string: text), let scheme = url.scheme else { return false }
    return ["https", "http"].contains(scheme) && url.host?.isEmpty == false
  }

  private static func failure(_ name: String, _ given: JSONValue?, want: String) -> Finding.Failure
  {
    let shown = given.map { String(decoding: $0.encoded.prefix(60), as: UTF8.self) } ?? "absent"
    return Finding.Failure(.declarative, "\(name) is \(shown), want \(want)")
  }
}
