import Cryptography
import Foundation
import HTTPServing
import Pipeline
import Synchronization
import Vocabulary

/// `Idempotency-Key`: the same request twice has one effect and one answer.
///
/// Keys are per caller and per method and path, so a key used on another session is another key.
/// An answer is kept for 24 hours, unless its status says that trying again may help: 429 and 5xx.
struct Idempotency: Hashable {
  static let keptFor: Duration = .seconds(24 * 3600)
  static let keyLengthMax = 255
  /// How many outlived answers each new one takes away.
  static let sweptAtOnce = 20
  static let replayedHeader = "idempotency-replayed"

  let key: String
  let user: UserID
  /// `POST /api/cook-suggest/sessions/cs_…/ready`.
  let route: String
  /// SHA-256 of the body.
  let requestDigest: String

  /// Nil when the request carries no key.
  ///
  /// - Throws: 400 when the key is not 1…255 visible ASCII characters.
  init?(_ request: HTTPRequest, of user: UserID) throws(Problem) {
    let given = request.headers.filter { $0.name == "idempotency-key" }
    guard let key = given.first?.value else { return nil }
    guard given.count == 1, (1...Self.keyLengthMax).contains(key.utf8.count),
      key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw .malformedHeader(
        "idempotency-key has \(key.utf8.count) bytes in \(given.count) fields, want one of"
          + " 1 to \(Self.keyLengthMax) visible ASCII characters.")
    }
    self.key = key
    self.user = user
    route = "\(request.method) /\(request.segments.joined(separator: "/"))"
    requestDigest = Digest.sha256(request.body).hex
  }

  /// The answer to give again; nil when this key is new, or has outlived its time.
  ///
  /// - Throws: 422 when the key came with another body before.
  func storedAnswer(_ rows: any StoreTransaction, at now: UnixTime) throws -> HTTPResponse? {
    guard let stored = try rows.answer(forKey: key, of: user, route: route),
      now - stored.storedAt < Self.keptFor
    else { return nil }
    guard stored.requestDigest == requestDigest else { throw Problem.keyOfAnotherBody() }
    let headers = stored.headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    return HTTPResponse(
      status: stored.status, headers: headers + [(Self.replayedHeader, "true")],
      body: stored.body)
  }

  func store(_ response: HTTPResponse, _ rows: any StoreTransaction, at now: UnixTime) throws {
    guard response.status < 500, response.status != 429 else { return }
    let headers = Dictionary(response.headers.map { ($0.name, $0.value) }) { _, last in last }
    try rows.removeAnswers(storedBefore: now - Self.keptFor, limit: Self.sweptAtOnce)
    try rows.save(
      StoredAnswer(
        requestDigest: requestDigest, status: response.status, headers: headers,
        body: response.data, storedAt: now),
      forKey: key, of: user, route: route)
  }
}

/// The keyed requests this process is working on.
final class RequestsInProgress: Sendable {
  private struct Name: Hashable {
    let key: String
    let user: UserID
    let route: String
  }

  private let names = Mutex<Set<Name>>([])

  /// - Throws: 409 while another request with this key is being worked on.
  func during<Result>(_ request: Idempotency, _ body: () throws -> Result) throws -> Result {
    let name = Name(key: request.key, user: request.user, route: request.route)
    guard names.withLock({ $0.insert(name).inserted }) else { throw Problem.keyInProgress() }
    defer { names.withLock { _ = $0.remove(name) } }
    return try body()
  }
}

extension Problem {
  static func keyOfAnotherBody() -> Problem {
    Problem(
      status: 422, name: "idempotency-key-reused", title: "Idempotency key reused",
      detail: "This idempotency-key came with another body before, want a new key.")
  }

  static func keyInProgress() -> Problem {
    Problem(
      status: 409, name: "idempotency-key-in-progress", title: "Request in progress",
      detail: "A request with this idempotency-key is being worked on; try again later.",
      headers: [("retry-after", "1")])
  }
}
