import Foundation
import Vocabulary

/// What a push service said to one push. A refusal is an answer, not an exception.
package struct WebPushAnswer: Hashable, Sendable {
  package let status: Int
  /// Why, in the service's words; nil when it gave none.
  package let reason: String?
  package let retryAfter: Duration?
  /// How many seconds the service keeps it, when it says so: it may shorten what was asked.
  package let ttl: Int64?

  package init(
    status: Int, reason: String? = nil, retryAfter: Duration? = nil, ttl: Int64? = nil
  ) {
    self.status = status
    self.reason = reason
    self.retryAfter = retryAfter
    self.ttl = ttl
  }

  /// Of a reason, in characters.
  package static let reasonMax = 200

  /// Reads an answer. `headers`: names in lower case. A `retry-after` that is a date counts from
  /// `now`.
  package init(status: Int, headers: [String: String], body: Data, now: UnixTime) {
    let isTaken = (200..<300).contains(status)
    self.init(
      status: status, reason: isTaken ? nil : Self.reason(headers: headers, body: body),
      retryAfter: headers["retry-after"].flatMap { RetryAfter.parse($0, now: now) },
      ttl: headers["ttl"].flatMap { Int64($0) })
  }

  /// Apple says `{"reason"}`, Mozilla `{"errno", "message"}`, Windows a header, others plain text.
  private static func reason(headers: [String: String], body: Data) -> String? {
    let text: String
    // A body that is no JSON has no reason to give but itself.
    if let json = try? JSONValue(parsing: body), case .object = json {
      let words = ["reason", "errno", "message"].compactMap { name -> String? in
        switch json[name] {
        case .string(let text)?: text
        case .integer(let number)?: "\(number)"
        default: nil
        }
      }
      text = words.joined(separator: " ")
    } else if let description = headers["x-wns-error-description"] {
      text = description
    } else {
      text = String(decoding: body, as: UTF8.self)
    }
    let plain = text.split(whereSeparator: { $0.isWhitespace || $0.isNewline })
      .joined(separator: " ")
    return plain.isEmpty ? nil : String(plain.prefix(reasonMax))
  }

  /// Whether the subscription was made with another VAPID key than ours, which no repetition mends.
  ///
  /// Source: research/push-systems.md 4.1 and 4.4.
  var isKeyMismatch: Bool {
    guard [400, 401, 403].contains(status), let reason = reason?.lowercased() else { return false }
    return Self.mismatchWords.contains { reason.contains($0) }
  }

  private static let mismatchWords = [
    // Apple, FCM, Mozilla.
    "vapidpkhashmismatch", "do not correspond to the credentials used to create",
    "vapid public key mismatch",
  ]
}

/// How one push ended.
package enum WebPushOutcome: Hashable, Sendable {
  case answered(WebPushAnswer)
  /// Nothing was sent: the name leads to an address that we do not send to.
  case forbidden(because: String)
  /// No answer came; the service may have taken it.
  case unanswered(because: String)
}
