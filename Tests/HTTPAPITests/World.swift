import Cryptography
import Foundation
import HTTPServing
import Pipeline
import SQLiteStore
import ServiceRuntime
import Synchronization
import TestSupport
import Testing
import Vocabulary

@testable import HTTPAPI

/// Which store a test runs on.
enum StoreKind: CaseIterable {
  case inMemory, sqlite
}

/// The API with a store, a clock and keys of its own, called without sockets.
final class World: Sendable {
  static let start = UnixTime(seconds: 1_781_809_923)

  let api: API
  let store: any Store
  let time = MovableTime()
  let keys: JSONWebKeySet
  let metrics = Metrics()
  let outbox: OutboxGate
  private let commits = CommitCount()
  private let folder: URL?

  /// How often the relay was woken.
  var commitCount: Int { commits.value.load(ordering: .relaxed) }

  convenience init(_ kind: StoreKind = .inMemory, settings: APISettings = .unhurried) throws {
    switch kind {
    case .inMemory:
      try self.init(store: InMemoryStore(), settings: settings)
    case .sqlite:
      let folder = FileManager.default.temporaryDirectory.appending(
        path: "lockstep-api-\(UUIDText.random())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try self.init(
        store: SQLiteStore(path: folder.appending(path: "store.db").path), folder: folder,
        settings: settings)
    }
  }

  init(
    store: any Store, folder: URL? = nil, settings: APISettings = .unhurried,
    outbox: OutboxGate = OutboxGate(), audience: String? = nil
  ) throws {
    self.store = store
    self.folder = folder
    self.outbox = outbox
    let secret = Base64URL.encode(RandomBytes.make(32))
    var keys = try JSONWebKeySet(
      parsing: Data(#"{"keys":[{"kty":"oct","kid":"test","k":"\#(secret)"}]}"#.utf8))
    keys.audience = audience
    self.keys = keys
    api = API(
      store: store, keys: keys, time: time, settings: settings, log: .discarding,
      metrics: metrics, outbox: outbox,
      onCommit: { [commits] in commits.value.add(1, ordering: .relaxed) })
  }

  deinit {
    // A temporary folder that stays harms no other test.
    if let folder { try? FileManager.default.removeItem(at: folder) }
  }

  private final class CommitCount: Sendable {
    let value = Atomic<Int>(0)
  }
}

extension APISettings {
  /// A rate that no test meets by accident.
  static let unhurried = APISettings(requestsPerSecond: 10_000, requestBurst: 10_000)
}

// MARK: Asking

extension World {
  func token(_ user: String, scope: String? = nil, lifetime: Duration = .seconds(600)) -> String {
    var claims: [String: JSONValue] = [
      "sub": .string(user), "exp": .integer((time.now() + lifetime).seconds),
    ]
    if let scope { claims["scope"] = .string(scope) }
    return signed(.object(claims))
  }

  func signed(_ claims: JSONValue) -> String { keys.sign(claims: claims) ?? "" }

  /// Asks as `user`; nobody when nil. `text` is the body as it is, else `body` is written as JSON.
  func ask(
    _ method: String, _ target: String, as user: String? = nil, scope: String? = nil,
    _ body: JSONValue? = nil, text: String? = nil, headers: [String: String] = [:]
  ) throws -> HTTPResponse {
    var fields = headers.map { (name: $0.key.lowercased(), value: $0.value) }
    if let user { fields.append(("authorization", "Bearer \(token(user, scope: scope))")) }
    return api.handle(
      HTTPRequest(
        method: method, target: try #require(RequestTarget(target)), headers: fields,
        body: text.map { Data($0.utf8) } ?? body?.encoded ?? Data()))
  }

  func post(
    _ target: String, as user: String, _ body: JSONValue? = nil, headers: [String: String] = [:]
  ) throws -> HTTPResponse {
    try ask("POST", target, as: user, body, headers: headers)
  }

  func get(_ target: String, as user: String, headers: [String: String] = [:]) throws
    -> HTTPResponse
  {
    try ask("GET", target, as: user, headers: headers)
  }

  func asKitchen(_ target: String, _ body: JSONValue) throws -> HTTPResponse {
    try ask("POST", target, as: "kitchen", scope: "service", body)
  }

  /// The events stored so far, oldest first; they stay where they are.
  func events() throws -> [OutboxEvent] {
    let now = time.now()
    return try store.write { rows in
      let all = try rows.leaseEvents(atMost: 10_000, now: now, until: now + .seconds(1))
      try rows.releaseEvents(all.map(\.sequence))
      return all
    }
  }

  func eventTypes() throws -> [String] { try events().map(\.message.type) }
}

// MARK: Cook sessions

extension World {
  static let sessions = "/api/cook-suggest/sessions"

  /// Dennis begins a session, with Jaqueline unless told otherwise.
  ///
  /// - Returns: the session's path.
  func begin(with partner: String? = "jaqueline") throws -> String {
    var body: [String: JSONValue] = ["date": "2026-06-18"]
    if let partner { body["with_user_id"] = .string(partner) }
    let answer = try post(Self.sessions, as: "dennis", .object(body))
    try #require(answer.status == 201)
    return try #require(answer.header("location"))
  }

  /// Brings the session to `generating`.
  ///
  /// - Returns: the kitchen's job.
  func makeReady(_ path: String) throws -> JSONValue {
    _ = try post("\(path)/ready", as: "dennis", ["ready": true])
    let answer = try post("\(path)/ready", as: "jaqueline", ["ready": true])
    return try #require(try answer.json()["job"]?["job_id"])
  }

  static let proposals: JSONValue = [
    ["id": "p1", "title": "Pasta", "minutes": 25], ["id": "p2", "title": "Curry"],
  ]

  func propose(_ path: String) throws {
    let job = try makeReady(path)
    let answer = try asKitchen("\(path)/proposals", ["job_id": job, "proposals": Self.proposals])
    try #require(answer.status == 200)
  }

  func decide(_ path: String) throws {
    try propose(path)
    _ = try post("\(path)/confirm", as: "dennis", ["proposal_id": "p1"])
    let agreed = try post("\(path)/confirm", as: "jaqueline", ["proposal_id": "p1"])
    let job = try #require(try agreed.json()["job"]?["job_id"])
    let answer = try asKitchen("\(path)/decision", ["job_id": job, "title": "Pasta"])
    try #require(answer.status == 200)
  }
}

extension HTTPResponse {
  func json() throws -> JSONValue { try JSONValue(parsing: data) }

  /// The pointers of a problem's `errors`, in order.
  func pointers() throws -> [String] {
    guard case .array(let errors)? = try json()["errors"] else { return [] }
    return errors.compactMap { error in
      guard case .string(let pointer)? = error["pointer"] else { return nil }
      return pointer
    }
  }

  /// The problem's `detail`; empty when this is no problem.
  func detail() throws -> String {
    guard header("content-type") == "application/problem+json",
      case .string(let detail)? = try json()["detail"]
    else { return "" }
    return detail
  }

  /// The last part of the problem's `type`.
  func problem() throws -> String? {
    guard header("content-type") == "application/problem+json",
      case .string(let type)? = try json()["type"]
    else { return nil }
    return type.split(separator: "/").last.map(String.init)
  }
}
