import HTTPServing
import Vocabulary

/// What a caller is told when a request was refused: RFC 9457. Nothing has changed.
struct Problem: Error {
  /// One field of the body that is wrong.
  struct Field: Hashable, Encodable {
    /// JSON pointer into the body (RFC 6901), `/with_user_id`.
    let pointer: String
    /// What was given and what was wanted.
    let detail: String
  }

  let status: Int
  /// The last part of `type`, `wrong-state`: what a client may switch on.
  let name: String
  let title: String
  let detail: String
  var fields: [Field] = []
  var headers: [(name: String, value: String)] = []
  /// The current session, so that a client can reconcile in one round trip.
  var session: SessionAnswer?
  /// The same of an activity.
  var activity: ActivityAnswer?

  var response: HTTPResponse {
    var response = HTTPResponse.json(status, Written(self), contentType: Self.contentType)
    response.headers += headers
    return response
  }

  static let contentType = "application/problem+json"

  private struct Written: Encodable {
    let problem: Problem

    init(_ problem: Problem) { self.problem = problem }

    enum CodingKeys: String, CodingKey {
      case type, title, status, detail, errors, session, activity
    }

    func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode("/problems/\(problem.name)", forKey: .type)
      try members.encode(problem.title, forKey: .title)
      try members.encode(problem.status, forKey: .status)
      try members.encode(problem.detail, forKey: .detail)
      if !problem.fields.isEmpty { try members.encode(problem.fields, forKey: .errors) }
      if let session = problem.session { try members.encode(session, forKey: .session) }
      if let activity = problem.activity { try members.encode(activity, forKey: .activity) }
    }
  }
}

// MARK: What can be wrong with any request

extension Problem {
  static func malformedBody(_ detail: String) -> Problem {
    Problem(status: 400, name: "malformed-body", title: "Malformed body", detail: detail)
  }

  static func malformedHeader(_ detail: String) -> Problem {
    Problem(status: 400, name: "malformed-header", title: "Malformed header", detail: detail)
  }

  static func malformedQuery(_ detail: String) -> Problem {
    Problem(status: 400, name: "malformed-query", title: "Malformed query", detail: detail)
  }

  static func unsupportedMediaType(given: String) -> Problem {
    Problem(
      status: 415, name: "unsupported-media-type", title: "Unsupported media type",
      detail: "The body's content type is \"\(given.prefix(100))\", want application/json.",
      headers: [("accept", "application/json")])
  }

  /// How many wrong fields one answer names.
  static let fieldsMax = 50

  static func invalidFields(_ fields: [Field]) -> Problem {
    let named = Array(fields.prefix(fieldsMax))
    return Problem(
      status: 422, name: "invalid-fields", title: "Invalid fields",
      detail: named.map(\.detail).joined(separator: "; ").prefix(1000) + ".", fields: named)
  }

  static func invalidField(_ name: String, _ complaint: String) -> Problem {
    invalidFields([Field(pointer: "/\(name)", detail: "\(name) \(complaint)")])
  }

  static func notFound(_ detail: String) -> Problem {
    Problem(status: 404, name: "not-found", title: "Not found", detail: detail)
  }

  static func methodNotAllowed(_ method: String, allowed: [String]) -> Problem {
    let list = allowed.joined(separator: ", ")
    return Problem(
      status: 405, name: "method-not-allowed", title: "Method not allowed",
      detail: "The method is \(method.prefix(20)), this path takes \(list).",
      headers: [("allow", list)])
  }

  static func storeUnavailable() -> Problem {
    Problem(
      status: 503, name: "store-unavailable", title: "Store unavailable",
      detail: "The store cannot do it now. Nothing has changed; try again.",
      headers: [("retry-after", "1")])
  }

  static func outboxFull() -> Problem {
    Problem(
      status: 503, name: "outbox-full", title: "Outbox full",
      detail: "Too many events wait for the broker. Nothing has changed; try again later.",
      headers: [("retry-after", "5")])
  }

  static func internalFault() -> Problem {
    Problem(
      status: 500, name: "internal", title: "Internal fault",
      detail: "Lockstep failed at this request. Nothing has changed.")
  }
}

// MARK: What the server refuses by itself

extension Problem {
  /// What the API says about a request that never reached it.
  init(_ refusal: HTTPRefusal) {
    switch refusal {
    case .malformed(let detail):
      self.init(
        status: 400, name: "malformed-request", title: "Malformed request", detail: detail)
    case .bodyTooLarge(let bytesMax):
      self.init(
        status: 413, name: "body-too-large", title: "Body too large",
        detail: "The body is longer than \(bytesMax) bytes.")
    case .headerTooLarge(let bytesMax):
      self.init(
        status: 431, name: "header-too-large", title: "Header too large",
        detail: "The header is longer than \(bytesMax) bytes.")
    }
  }
}
