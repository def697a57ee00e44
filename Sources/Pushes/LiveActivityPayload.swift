import Foundation
import Vocabulary

/// The body of a Live Activity push. APNs takes 4096 bytes and silently drops what ActivityKit
/// cannot decode, so it is built in one place.
///
/// Source: developer.apple.com, "Starting and updating Live Activities with ActivityKit push
/// notifications".
package struct LiveActivityPayload: Hashable, Sendable {
  /// The largest body APNs takes for an alert or a Live Activity, in UTF-8 bytes.
  package static let bytesMax = 4096
  /// What the stamp adds: `"timestamp":`, ten digits and a comma. Ten digits last until 2286.
  package static let stampBytes = 23

  package enum Event: Hashable, Sendable {
    /// Puts a new activity on the phone. iOS wants an alert with it; that of a cook session has no
    /// sound, because the invitation's own alert makes one.
    case start(attributesType: String, attributes: JSONValue, alertTitle: String, alertBody: String)
    case update
    /// Removes the card at `dismissAt`; a moment that has passed removes it now, nil leaves it to
    /// the system, for up to four hours.
    case end(dismissAt: UnixTime?)
  }

  /// What an activity may carry besides.
  package struct Additions: Hashable, Sendable {
    /// An update that lights the screen up; a start has its own alert.
    package var alert: (title: String, body: String)?
    /// Of that alert or the start's; nil makes none.
    package var alertSound: String?
    /// Which of one app's activities comes first.
    package var relevanceScore: Double?
    /// Members beside `aps`, which the app itself reads.
    package var beside: [String: JSONValue]
    /// Of a start: the channel that the card listens to; nil asks for an update token.
    package var channelID: String?

    package init(
      alert: (title: String, body: String)? = nil, alertSound: String? = nil,
      relevanceScore: Double? = nil, beside: [String: JSONValue] = [:], channelID: String? = nil
    ) {
      self.alert = alert
      self.alertSound = alertSound
      self.relevanceScore = relevanceScore
      self.beside = beside
      self.channelID = channelID
    }

    package static func == (left: Self, right: Self) -> Bool {
      left.alert?.title == right.alert?.title && left.alert?.body == right.alert?.body
        && left.alertSound == right.alertSound && left.relevanceScore == right.relevanceScore
        && left.beside == right.beside && left.channelID == right.channelID
    }

    package func hash(into hasher: inout Hasher) {
      hasher.combine(alert?.title)
      hasher.combine(relevanceScore)
      hasher.combine(beside)
    }
  }

  package var event: Event
  /// What ActivityKit decodes; an object.
  package var contentState: JSONValue
  package var staleAt: UnixTime?
  package var additions: Additions

  package init(
    event: Event, contentState: JSONValue, staleAt: UnixTime?, additions: Additions = Additions()
  ) {
    self.event = event
    self.contentState = contentState
    self.staleAt = staleAt
    self.additions = additions
  }

  /// The body without its stamp. Text that does not fit is shortened, the longest first.
  ///
  /// - Throws: ``PayloadTooLarge`` when it still does not fit.
  package func encoded() throws(PayloadTooLarge) -> Data {
    var payload = self
    var body = payload.json.encoded
    let original = body.count
    while body.count + Self.stampBytes > Self.bytesMax {
      let excess = body.count + Self.stampBytes - Self.bytesMax
      guard payload.shortenLongestText(byAtLeast: excess) else {
        throw PayloadTooLarge(
          bytes: original + Self.stampBytes, shortest: body.count + Self.stampBytes)
      }
      body = payload.json.encoded
    }
    return body
  }

  /// How long the stamped body would be with all its text, in bytes.
  package var bytesUnshortened: Int { json.encoded.count + Self.stampBytes }

  private var json: JSONValue {
    var aps: [String: JSONValue] = ["content-state": contentState]
    if let staleAt { aps["stale-date"] = .integer(staleAt.seconds) }
    if let score = additions.relevanceScore { aps["relevance-score"] = .number(score) }
    switch event {
    case .start(let type, let attributes, let title, let body):
      aps["event"] = "start"
      aps["attributes-type"] = .string(type)
      aps["attributes"] = attributes
      aps["alert"] = alert(title, body)
      if let channelID = additions.channelID {
        aps["input-push-channel"] = .string(channelID)
      } else {
        aps["input-push-token"] = 1
      }
    case .update:
      aps["event"] = "update"
      if let (title, body) = additions.alert {
        aps["alert"] = alert(title, body)
      }
    case .end(let dismissAt):
      aps["event"] = "end"
      if let dismissAt { aps["dismissal-date"] = .integer(dismissAt.seconds) }
    }
    return .object(additions.beside.merging(["aps": .object(aps)]) { $1 })
  }

  /// The sound of a Live Activity stands inside of its alert; that of an ordinary one beside it.
  private func alert(_ title: String, _ body: String) -> JSONValue {
    var alert: [String: JSONValue] = ["title": .string(title), "body": .string(body)]
    if let sound = additions.alertSound { alert["sound"] = .string(sound) }
    return .object(alert)
  }

  /// Puts `aps.timestamp` into an encoded body: done at the moment of sending, when this state has
  /// just been confirmed as the newest.
  ///
  /// - Precondition: `body` came from ``encoded()``.
  package static func stamped(_ body: Data, at moment: UnixTime) -> Data {
    precondition(isOpening(body), "a payload begins with its aps object")
    var digits = String(moment.seconds)
    return digits.withUTF8 { digits in
      body.withUnsafeBytes { body in
        let rest = UnsafeRawBufferPointer(rebasing: body[opening.count...])
        var stamped = Data(count: body.count + member.count + digits.count + 1)
        // Appends would cost more than the rest of a push's way through this module.
        stamped.withUnsafeMutableBytes { place in
          var next = place[...]
          func put(_ bytes: UnsafeRawBufferPointer) {
            UnsafeMutableRawBufferPointer(rebasing: next).copyMemory(from: bytes)
            next = next.dropFirst(bytes.count)
          }
          opening.withUnsafeBytes(put)
          member.withUnsafeBytes(put)
          put(UnsafeRawBufferPointer(digits))
          next[next.startIndex] = UInt8(ascii: ",")
          next = next.dropFirst()
          put(rest)
        }
        return stamped
      }
    }
  }

  private static let opening = Array(#"{"aps":{"#.utf8)
  private static let member = Array(#""timestamp":"#.utf8)

  /// Whether the body begins as ``encoded()`` writes it, so that it can be stamped.
  package static func isOpening(_ body: Data) -> Bool {
    body.withUnsafeBytes { $0.starts(with: opening) }
  }
}

/// A payload that no shortening makes fit.
package struct PayloadTooLarge: Error, Hashable, CustomStringConvertible {
  /// As asked for.
  package let bytes: Int
  /// With all text shortened.
  package let shortest: Int

  package var description: String {
    "payload is \(bytes) bytes, shortened \(shortest); APNs takes \(LiveActivityPayload.bytesMax)"
  }
}
