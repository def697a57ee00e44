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
  /// The fields of our message that FCM calls wrong, `message.token`.
  package let wrongFields: Set<String>
  /// Of a 429: whether the limit is the project's and not one phone's. FCM names the quota of a
  /// project, and gives no code of its own with it.
  package let isLimitOfProject: Bool
  package let retryAfter: Duration?

  /// Of ``words``, in characters.
  package static let wordsMax = 200

  package init(
    status: Int, errorCode: String? = nil, state: String? = nil, words: String? = nil,
    wrongFields: Set<String> = [], isLimitOfProject: Bool = false, retryAfter: Duration? = nil
  ) {
    self.status = status
    self.errorCode = errorCode
    self.state = state
    self.words = words
    self.wrongFields = wrongFields
    self.isLimitOfProject = isLimitOfProject
    self.retryAfter = retryAfter
  }

  /// Reads an answer. `headers`: names in lower case. A `retry-after` that is a date counts from
  /// `now`.
  package init(status: Int, headers: [String: String], body: Data, now: UnixTime) {
    // What is no JSON tells no more than its status.
    let error = status == 200 ? nil : (try? JSONValue(parsing: body))?["error"]
    let all = Self.items(error?["details"])
    func details(of type: String) -> [JSONValue] {
      all.filter { Self.text($0["@type"])?.hasSuffix(type) ?? false }
    }
    let code = details(of: "fcm.v1.FcmError").lazy.compactMap { Self.text($0["errorCode"]) }.first
    let violations = details(of: "rpc.BadRequest").flatMap { Self.items($0["fieldViolations"]) }
    let quotas = details(of: "rpc.QuotaFailure").flatMap { Self.items($0["violations"]) }
    let isOfProject = quotas.contains { Self.text($0["subject"])?.hasPrefix("project") ?? false }
    self.init(
      status: status, errorCode: code, state: Self.text(error?["status"]),
      words: Self.text(error?["message"]).map { String($0.prefix(Self.wordsMax)) },
      wrongFields: Set(violations.map { Self.text($0["field"]) ?? "" }),
      isLimitOfProject: status == 429 && (code == nil || isOfProject),
      retryAfter: headers["retry-after"].flatMap { RetryAfter.parse($0, now: now) })
  }

  private static func text(_ value: JSONValue?) -> String? {
    if case .string(let text)? = value { return text }
    return nil
  }

  private static func items(_ value: JSONValue?) -> [JSONValue] {
    if case .array(let items)? = value { return items }
    return []
  }

  /// What is told and recorded: the code alone where there is one. Nil when it was accepted.
  package var reason: String? {
    guard status != 200 else { return nil }
    return errorCode ?? state ?? words ?? "without a reason"
  }

  /// FCM says that it is the token that is wrong, and nothing else: by the field that it names, or
  /// in words alone.
  var saysThatTokenIsInvalid: Bool {
    if !wrongFields.isEmpty { return wrongFields == ["message.token"] }
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
  case unauthorized(NoAccessToken)
}

extension FCMOutcome {
  /// Nobody's mistake, and no word on this message: what many of in a short time mean that FCM is
  /// down.
  package var isServiceFault: Bool {
    switch self {
    case .unanswered: true
    case .answered(let answer): answer.status >= 500 || answer.status == 408
    case .unauthorized: false
    }
  }

  /// FCM has looked at the message, whatever it thought of it: the project may send.
  package var showsThatProjectMaySend: Bool {
    guard case .answered(let answer) = self else { return false }
    return answer.status == 200
      || ["UNREGISTERED", "SENDER_ID_MISMATCH", "INVALID_ARGUMENT"].contains(answer.errorCode)
  }
}
