import Foundation
import Vocabulary

/// What FCM said to one message. A refusal is an answer, not an exception.
package struct FCMAnswer: Hashable, Sendable {
  package let status: Int
  /// `FcmError.errorCode` where there is one, `UNREGISTERED`; nil without.
  package let errorCode: String?
  /// `error.status`, `INVALID_ARGUMENT`; nil without.
  package let state: String?
  /// FCM's words, cut; nil without.
  package let words: String?
  /// Whether FCM names fields of our message as wrong.
  package let namesFields: Bool
  package let retryAfter: Duration?

  /// Of ``words``, in characters.
  package static let wordsMax = 200

  package init(
    status: Int, errorCode: String? = nil, state: String? = nil, words: String? = nil,
    namesFields: Bool = false, retryAfter: Duration? = nil
  ) {
    self.status = status
    self.errorCode = errorCode
    self.state = state
    self.words = words
    self.namesFields = namesFields
    self.retryAfter = retryAfter
  }

  /// Reads an answer. `headers`: names in lower case. A `retry-after` that is a date counts from
  /// `now`.
  package init(status: Int, headers: [String: String], body: Data, now: UnixTime) {
    // What is no JSON tells no more than its status.
    let error = status == 200 ? nil : (try? JSONValue(parsing: body))?["error"]
    var details: [JSONValue] = []
    if case .array(let items)? = error?["details"] { details = items }
    func isOf(_ type: String, _ detail: JSONValue) -> Bool {
      if case .string(let name)? = detail["@type"] { return name.hasSuffix(type) }
      return false
    }
    func text(_ value: JSONValue?) -> String? {
      if case .string(let text)? = value { return text }
      return nil
    }
    let code = details.first { isOf("fcm.v1.FcmError", $0) }.flatMap { text($0["errorCode"]) }
    self.init(
      status: status, errorCode: code, state: text(error?["status"]),
      words: text(error?["message"]).map { String($0.prefix(Self.wordsMax)) },
      namesFields: details.contains { isOf("rpc.BadRequest", $0) },
      retryAfter: headers["retry-after"].flatMap { RetryAfter.parse($0, now: now) })
  }

  /// What is told and recorded: the code alone where there is one. Nil when it was accepted.
  package var reason: String? {
    guard status != 200 else { return nil }
    return errorCode ?? state ?? words ?? "without a reason"
  }

  /// FCM's own words say that it is the token that is wrong.
  var saysThatTokenIsInvalid: Bool {
    guard let words = words?.lowercased() else { return false }
    return words.contains("registration token") || words.contains("registration-token")
  }
}

/// How one message ended.
package enum FCMOutcome: Hashable, Sendable {
  case answered(FCMAnswer)
  /// No answer came; FCM may have taken it.
  case unanswered(because: String)
  /// Nothing was sent: there is no access token to send it with.
  case unauthorized(because: String)
}
