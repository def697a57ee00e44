import Cryptography
import Foundation
import HTTPClient
import Pipeline
import Testing
import Vocabulary

/// One session as its people play it, and the kitchen that answers.
final class CookSession {
  static let people = ["dennis", "jaqueline"]

  let id: String
  private let installation: Installation

  private init(_ id: String, _ installation: Installation) {
    self.id = id
    self.installation = installation
  }

  /// Dennis invites Jaqueline.
  static func begin(in installation: Installation) throws -> CookSession {
    let answer = try installation.ask(
      "dennis", "POST", "/api/cook-suggest/sessions",
      ["date": "2030-01-31", "with_user_id": "jaqueline"])
    return CookSession(try #require(answer["id"]?.text), installation)
  }

  var path: String { "/api/cook-suggest/sessions/\(id)" }

  func seen(by user: String = "dennis") throws -> JSONValue {
    try installation.ask(user, "GET", path)
  }

  func rev() throws -> Int { try #require(try seen()["rev"]?.whole) }

  @discardableResult
  func act(_ user: String, _ action: String, _ body: JSONValue = [:]) throws -> JSONValue {
    try installation.ask(user, "POST", "\(path)/\(action)", body)
  }

  /// What comes before the kitchen thinks.
  static let answering: [(user: String, action: String, body: JSONValue)] = [
    ("jaqueline", "join", [:]),
    ("dennis", "answers", ["answers": ["hunger": "groß"]]),
    ("dennis", "ready", ["ready": true]),
    ("jaqueline", "answers", ["answers": ["hunger": "mittel"]]),
    ("jaqueline", "ready", ["ready": true]),
  ]

  static let deciding: [(user: String, action: String, body: JSONValue)] = [
    ("jaqueline", "pick", ["proposal_id": "p2"]),
    ("dennis", "confirm", ["proposal_id": "p2"]),
    ("jaqueline", "confirm", ["proposal_id": "p2"]),
  ]

  /// From the invitation to the proposals.
  func playToProposals() throws {
    for step in Self.answering { try act(step.user, step.action, step.body) }
    try cook()
  }

  /// From the proposals to the decision.
  func playToDecision() throws {
    for step in Self.deciding { try act(step.user, step.action, step.body) }
    try cook()
  }

  /// Answers the job that the session waits for.
  func cook() throws {
    let job = try #require(try seen()["job"])
    let id = try #require(job["job_id"])
    if job["kind"] == "proposals" {
      let proposals: JSONValue = [
        ["id": "p1", "title": "Kürbiscurry"], ["id": "p2", "title": "Pilzrisotto"],
      ]
      _ = try installation.ask(
        "kitchen", "POST", "\(path)/proposals", ["job_id": id, "proposals": proposals])
    } else {
      _ = try installation.ask(
        "kitchen", "POST", "\(path)/decision", ["job_id": id, "title": "Pilzrisotto"])
    }
  }
}

// MARK: Calling the API

extension Installation {
  /// A token that the API takes; the user `kitchen` is the service.
  func token(_ user: String) throws -> String {
    let now = SystemTime().now().seconds
    return try token(claims: [
      "sub": .string(user), "scope": user == "kitchen" ? "service" : "user",
      "iat": .integer(now), "exp": .integer(now + 3600),
    ])
  }

  func token(claims: JSONValue) throws -> String { try #require(keys.sign(claims: claims)) }

  /// One request, one answer; `bearer` nil is the user's own.
  func send(
    _ user: String, _ method: String, _ path: String, _ body: Data? = nil, bearer: String? = nil,
    headers: [String: String] = [:]
  ) throws -> HTTPClientResponse {
    var fields = headers
    fields["authorization"] = "Bearer \(try bearer ?? token(user))"
    if body != nil { fields["content-type"] = "application/json" }
    return try client.send(method, apiURL + path, headers: fields, body: body)
  }

  /// As an app asks: again with the same idempotency key while nobody answers.
  ///
  /// - Throws: when the answer is a refusal.
  func ask(_ user: String, _ method: String, _ path: String, _ body: JSONValue? = nil) throws
    -> JSONValue
  {
    let headers = method != "GET" ? ["idempotency-key": UUIDText.random()] : [:]
    var last: HTTPClientResponse?
    try wait(for: "an answer to \(method) \(path)") {
      last = try send(user, method, path, body?.encoded, headers: headers)
      return last.map { $0.status != 503 && $0.status != 429 } ?? false
    }
    let answer = try #require(last)
    try #require((200..<300).contains(answer.status), "\(method) \(path): \(answer.text)")
    return try JSONValue(parsing: answer.body)
  }
}
