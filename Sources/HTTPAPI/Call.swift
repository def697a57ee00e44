import Activities
import Cryptography
import HTTPServing
import Pipeline
import Sessions
import Vocabulary

/// One request whose caller is known.
struct Call {
  let request: HTTPRequest
  let caller: Caller
  /// What the placeholders of the route's pattern stand for.
  let parameters: [String: String]
  let now: UnixTime
  let traceparent: String

  /// The body, to be read field by field.
  func body() throws(Problem) -> BodyReader {
    try BodyReader(body: request.body, contentType: request.header("content-type"))
  }

  /// For requests that have nothing to say: no body, or an empty object.
  func expectNoFields() throws(Problem) {
    if !request.body.isEmpty { try body().finish() }
  }

  /// The route's `{id}`.
  var id: String { parameters["id"] ?? "" }

  /// The route's `{activity_key}`.
  ///
  /// - Throws: 422 when nothing can be called so.
  func activityKey() throws(Problem) -> ActivityKey {
    let text = parameters["activity_key"] ?? ""
    guard Activity.isKey(text) else {
      throw .invalidField(
        "activity_key",
        "is \"\(text.prefix(100))\", want 1 to \(Activity.keyBytesMax) letters, digits, . _ ~ or -")
    }
    return ActivityKey(text)
  }

  func event(for change: ActivityChange) -> OutboxEvent {
    Event.outboxEntry(
      for: change, by: caller.userID, id: newEventID, at: now, traceparent: traceparent)
  }

  func event(for change: Change) -> OutboxEvent {
    Event.outboxEntry(for: change, id: newEventID, at: now, traceparent: traceparent)
  }

  var newEventID: EventID { EventID(UUIDText.v7(now: now)) }
}
