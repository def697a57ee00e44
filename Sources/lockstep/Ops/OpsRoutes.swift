import Foundation
import HTTPServing
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import Vocabulary

/// `/ops` and what its page asks for.
///
/// The admin port is for this machine or an inner network, and the page has no login. So that no
/// other site can use a browser that may reach it: only a host that is an address or `localhost` is
/// answered (no name that an attacker could point here), and what changes something wants a header
/// that a foreign page cannot send.
struct OpsRoutes: Sendable {
  static let guardHeader = "x-lockstep-ops"

  let watch: OpsWatch
  let dead: OpsDeadLetters
  let database: StoreWiring.Address
  let time: SystemTime

  /// Nil for a path that is not under `/ops`.
  func respond(to request: HTTPRequest) -> HTTPResponse? {
    guard request.path == "/ops" || request.path.hasPrefix("/ops/") else { return nil }
    guard Self.isAddress(request.header("host")) else {
      return Self.refusal(403, "ask by address or as localhost, not by another name")
    }
    switch (request.method, request.path) {
    case ("GET", "/ops"): return OpsPage.document
    case ("GET", "/ops/page.css"): return OpsPage.style
    case ("GET", "/ops/page.js"): return OpsPage.script
    case ("GET", "/ops/state"): return Self.answer(watch.json(now: time.now()))
    case ("GET", "/ops/dead"): return attempt { try dead.look() }
    case ("GET", "/ops/explain"): return attempt { try explain(request) }
    case ("POST", "/ops/dead/replay"): return replay(request)
    default: return Self.refusal(404, "there is nothing at \(request.path.prefix(200))")
    }
  }

  // MARK: Who may ask

  /// `127.0.0.1:9090`, `[::1]:9090`, `localhost`.
  static func isAddress(_ host: String?) -> Bool {
    guard let host else { return false }
    if host.hasPrefix("[") { return host.contains("]") }
    let name = host.prefix { $0 != ":" }
    let isIPv4 =
      name.split(separator: ".", omittingEmptySubsequences: false).count == 4
      && name.allSatisfy { $0.isNumber || $0 == "." }
    return name == "localhost" || isIPv4
  }

  private static func mayChange(_ request: HTTPRequest) -> Bool {
    guard request.header(guardHeader) != nil else { return false }
    guard let origin = request.header("origin") else { return true }
    return origin == "http://\(request.header("host") ?? "")"
  }

  // MARK: Answers

  private func replay(_ request: HTTPRequest) -> HTTPResponse {
    guard Self.mayChange(request) else {
      return Self.refusal(403, "want the header \(Self.guardHeader), from this page")
    }
    return attempt {
      guard let body = try? JSONValue(parsing: request.body),
        case .string(let stage)? = body["stage"], case .string(let reason)? = body["reason"],
        !stage.isEmpty
      else {
        throw Self.misunderstood(
          String(decoding: request.body, as: UTF8.self), want: #"{"stage": …, "reason": …}"#)
      }
      return try dead.replay(stage: stage, reason: reason)
    }
  }

  private func explain(_ request: HTTPRequest) throws -> JSONValue {
    let given = Dictionary(grouping: request.query) { $0.name }.mapValues { $0.map(\.value) }
    let users = given["user"] ?? []
    guard let sessions = given["session"], sessions.count == 1, let session = sessions.first,
      !session.isEmpty, users.count <= 1, Set(given.keys).isSubset(of: ["session", "user"])
    else {
      throw Self.misunderstood(
        request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&"),
        want: "session=ID once, and at most once user=ID")
    }
    // The page always sends its second field.
    let user = users.first.flatMap { $0.isEmpty ? nil : UserID($0) }
    let history = try ExplainCommand.history(of: SessionID(session), for: user, in: database)
    let now = time.now()
    let timeline = Timeline(history, for: user, now: now)
    return [
      "head": .string(TimelineText.head(history)),
      "entries": TimelineText.table(timeline, now: now).objects,
    ]
  }

  private func attempt(_ body: () throws -> JSONValue) -> HTTPResponse {
    do {
      return Self.answer(try body())
    } catch let failure as CommandFailure {
      return Self.refusal(Self.status(of: failure.code), failure.description)
    } catch {
      return Self.refusal(503, "\(error)")
    }
  }

  private static func status(of code: ExitCode) -> Int {
    switch code {
    case .usage: 400
    case .noInput: 404
    default: 503
    }
  }

  private static func misunderstood(_ given: String, want: String) -> CommandFailure {
    let shown = given.isEmpty ? "nothing" : String(given.prefix(200))
    return CommandFailure(.usage, "want \(want); given: \(shown)")
  }

  private static func answer(_ value: JSONValue) -> HTTPResponse {
    var response = HTTPResponse.json(200, value)
    response.headers += OpsPage.headers
    return response
  }

  private static func refusal(_ status: Int, _ detail: String) -> HTTPResponse {
    var response = HTTPResponse.json(status, ["detail": .string(detail)] as JSONValue)
    response.headers += OpsPage.headers
    return response
  }
}
