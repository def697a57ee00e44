import Foundation
import HTTP2
import Pushes
import Vocabulary

/// Reads what APNs said into a value.
package struct AnswerReader {
  /// Of a body that is not the JSON that Apple documents, in characters.
  package static let rawReasonMax = 200

  // Answers of one second carry the same `date`.
  private var dateText: [UInt8] = []
  private var date: UnixTime?

  package init() {}

  /// Reads one answer. A `retry-after` that is a date counts from `now` when the answer has no
  /// `date` itself.
  package mutating func read(
    status: Int, headers: HeaderBlock, body: Data, now: () -> UnixTime
  ) -> PushAnswer {
    let date = readDate(headers)
    let apnsID = headers["apns-id"]
    guard status != 200 else { return PushAnswer(status: status, apnsID: apnsID, date: date) }
    let (reason, timestamp) = Self.reason(body)
    return PushAnswer(
      status: status, reason: reason, apnsID: apnsID, timestamp: timestamp,
      retryAfter: headers["retry-after"].flatMap { RetryAfter.parse($0, now: date ?? now()) },
      date: date)
  }

  private mutating func readDate(_ headers: HeaderBlock) -> UnixTime? {
    headers.withValue(of: "date") { bytes in
      guard let bytes else { return nil }
      if !bytes.elementsEqual(dateText) {
        dateText = Array(bytes)
        date = HTTPDate.parse(String(decoding: bytes, as: UTF8.self))
      }
      return date
    }
  }

  static func reason(_ body: Data) -> (reason: String?, timestamp: UnixTime?) {
    guard !body.isEmpty else { return (nil, nil) }
    // A body that is no JSON has no reason to give but itself.
    guard let json = try? JSONValue(parsing: body), case .string(let reason) = json["reason"] else {
      return (String(String(decoding: body, as: UTF8.self).prefix(rawReasonMax)), nil)
    }
    var timestamp: UnixTime?
    if case .integer(let milliseconds) = json["timestamp"] {
      timestamp = UnixTime(milliseconds: milliseconds)
    }
    // Apple's table spells one of them `Service Unavailable`.
    return (String(reason.filter { $0 != " " }.prefix(rawReasonMax)), timestamp)
  }
}
