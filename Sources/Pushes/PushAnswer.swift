import Vocabulary

/// What APNs said to one push. A refusal is an answer, not an exception.
package struct PushAnswer: Hashable, Sendable {
  package let status: Int
  /// The `reason` of the body, such as `BadDeviceToken`; the raw text when the body was not the
  /// JSON that Apple documents; nil when it was empty.
  package let reason: String?
  package let apnsID: String?
  /// Of a 410: when APNs last saw the token become invalid.
  package let timestamp: UnixTime?
  /// The `retry-after` header, in seconds from now.
  package let retryAfter: Duration?
  /// The `date` header: shows whether our clock is off.
  package let date: UnixTime?

  package init(
    status: Int, reason: String? = nil, apnsID: String? = nil, timestamp: UnixTime? = nil,
    retryAfter: Duration? = nil, date: UnixTime? = nil
  ) {
    self.status = status
    self.reason = reason
    self.apnsID = apnsID
    self.timestamp = timestamp
    self.retryAfter = retryAfter
    self.date = date
  }
}

/// How one request ended.
package enum PushOutcome: Hashable, Sendable {
  case answered(PushAnswer)
  /// APNs certainly never processed it: not sent, refused stream, or above the last stream of a
  /// GOAWAY.
  case neverProcessed(because: String)
  /// Sent, and no answer came: APNs may have delivered it.
  case unanswered(because: String)
}
