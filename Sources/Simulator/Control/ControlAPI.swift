import Foundation
import HTTPServing
import ServiceRuntime
import Vocabulary

/// The simulator's own HTTP API and page, for people and tests on this machine.
///
/// - `GET /` the page, `GET /events` what it is told.
/// - `GET /phones?limit=`, `GET /phones/{id}`: what each Lock Screen shows, gone cards too.
/// - `POST /phones` with a ``PhoneOrder``: a new phone, its tokens known to the API.
/// - `DELETE /phones?user_prefix=`: the phones of all users whose ids begin so are gone.
/// - `POST /phones/{id}/start-local {session_id}`: its app opens a session and starts its card; or
///   with `attributes`, `content_state` and `stale_at` of a session that the API does not know.
/// - `POST /phones/{id}/offline`, `online`, `uninstall`, and `dismiss {session_id?}`.
/// - `POST /phones/{id}/rotate`: a new push-to-start token and new update tokens, and its app
///   registers all tokens again.
/// - `GET /verdict`: every card against what the API says now.
/// - `GET /pushes?limit=`: the newest requests to the stand-in for APNs, oldest first; with
///   `after=` those that follow the request of that number.
/// - `GET /cards?from=&limit=`: what each of so many phones shows of each session, briefly.
/// - `GET /tally`: counts of everything, without asking the API.
/// - `GET /browsers`, `GET /browsers/{id}`: what each browser shows, decrypted.
/// - `POST /browsers` with a ``BrowserOrder``: a new browser, subscribed at the API.
/// - `POST /browsers/{id}/offline`, `online`, `unsubscribe`.
/// - `GET /androids`, `GET /androids/{id}`: what each Android phone shows.
/// - `POST /androids` with a ``PhoneOrder``: a new Android phone, its token known to the API.
/// - `POST /androids/{id}/offline`, `online`, `uninstall`, `dismiss {session_id?}`, `forget`: its
///   process ends and its notifications go, and `rotate`: FCM gives it a new token, and its app
///   registers it.
/// - `POST /androids/revoke`: no access token of FCM counts any more.
/// - `/app/` the web app with its service worker: see ``WebAppRoutes``.
/// - `GET /faults`, `POST /faults` with an array of ``Fault``: takes the place of all before.
struct ControlAPI: Sendable {
  /// How many phones, or records, one answer tells of unless asked otherwise.
  static let listedMax = 1000

  let world: World
  let desk: PhoneDesk
  let browsers: BrowserRoutes
  let androids: AndroidRoutes
  let webApp: WebAppRoutes
  let stopping: StopSignal

  func answer(_ request: HTTPRequest) -> HTTPResponse {
    if let refusal = refuseStrangers(request) { return refusal }
    do {
      return try route(request)
    } catch let error as SettingsError {
      return problem(422, "\(error)")
    } catch let error as DecodingError {
      return problem(422, "\(DecodingProblem(error))")
    } catch {
      return problem(502, "\(error)")
    }
  }

  private func route(_ request: HTTPRequest) throws -> HTTPResponse {
    if let answer = try webApp.answer(request) ?? browsers.answer(request)
      ?? androids.answer(request)
    {
      return answer
    }
    let segments = request.segments
    switch (request.method, segments.first ?? "", segments.count) {
    case ("GET", "", 0): return .page
    case ("GET", "events", 1):
      let stream = EventStream(world: world, stopping: stopping)
      return .stream { stream.next() }
    case ("GET", "phones", 1):
      let limit = request.query("limit").flatMap { Int($0) } ?? Self.listedMax
      let phones = world.read { state in
        state.fleet.phoneIDs.prefix(max(0, limit)).compactMap { state.fleet.phones[$0] }
      }
      return .json(200, phones.map { PhoneView($0, all: true) })
    case ("GET", "phones", 2):
      guard let phone = world.read({ $0.fleet.phones[segments[1]] }) else { return unknown }
      return .json(200, PhoneView(phone, all: true))
    case ("POST", "phones", 1): return .json(201, try desk.add(decoded(request)))
    case ("DELETE", "phones", 1): return try removePhones(request.query("user_prefix") ?? "")
    case ("POST", "phones", 3): return try change(segments[1], segments[2], request)
    case ("GET", "verdict", 1): return .json(200, desk.verdict())
    case ("GET", "pushes", 1):
      let limit = request.query("limit").flatMap { Int($0) } ?? Self.listedMax
      let after = request.query("after").flatMap { Int($0) }
      let pushes = world.read { state in
        after.map { state.fleet.pushes(following: $0, atMost: max(0, limit)) }
          ?? state.fleet.pushes(after: 0, atMost: max(0, limit))
      }
      return .json(200, pushes)
    case ("GET", "cards", 1):
      let from = request.query("from").flatMap { Int($0) } ?? 0
      let limit = request.query("limit").flatMap { Int($0) } ?? Self.listedMax
      return .json(200, world.read { BriefCards(of: $0.fleet, from: max(0, from), limit: limit) })
    case ("GET", "tally", 1): return .json(200, desk.tally)
    case ("GET", "faults", 1): return .json(200, world.read { $0.faults.faults })
    case ("POST", "faults", 1):
      let faults = try Fault.list(reading: request.body)
      world.change { state, _ in
        state.faults = FaultPlan(faults)
        return ((), [])
      }
      return .json(200, faults)
    case (_, "", 0), (_, "events", 1), (_, "verdict", 1), (_, "pushes", 1), (_, "faults", 1),
      (_, "cards", 1), (_, "tally", 1), (_, "phones", 1...3):
      return problem(405, "\(request.method) is not for \(request.path)")
    default: return unknown
    }
  }

  /// Never all phones by an oversight.
  private func removePhones(_ prefix: String) throws -> HTTPResponse {
    guard !prefix.isEmpty else {
      throw SettingsError(["user_prefix: want the begin of users' ids, such as lt-"])
    }
    let removed = world.change { state, now in
      (state.fleet.removePhones(ofUsersWith: prefix, at: now), [])
    }
    return .json(200, ["removed": .integer(Int64(removed))] as JSONValue)
  }

  private func change(_ id: String, _ what: String, _ request: HTTPRequest) throws -> HTTPResponse {
    guard world.read({ $0.fleet.phones[id] != nil }) else { return unknown }
    switch what {
    case "start-local":
      if let card = try? decoded(request, OwnCard.self) {
        desk.startLocally(card, on: id)
      } else {
        try desk.startLocally(decoded(request, SessionChoice.self).session, on: id)
      }
    case "offline":
      act(on: id) { phone, _, _ in
        phone.goOffline()
        return []
      }
    case "online": act(on: id) { phone, mint, now in phone.goOnline(at: now, mint: &mint) }
    case "dismiss":
      let choice = request.body.isEmpty ? nil : try decoded(request, SessionChoice.self)
      act(on: id) { phone, _, now in phone.dismiss(choice?.session, at: now) }
    case "rotate":
      act(on: id) { phone, mint, _ in phone.rotateTokens(mint: &mint) }
    case "uninstall":
      act(on: id) { phone, _, now in
        phone.uninstall(at: now)
        return []
      }
    default: return unknown
    }
    guard let phone = world.read({ $0.fleet.phones[id] }) else { return unknown }
    return .json(200, PhoneView(phone, all: true))
  }

  private func act(
    on id: String,
    _ happening: (inout VirtualPhone, inout TokenMint, UnixTime) -> [PhoneEffect]
  ) {
    world.change { state, now in
      ((), state.fleet.act(on: id, at: now) { phone, mint in happening(&phone, &mint, now) })
    }
  }

  private func decoded<Value: Decodable>(_ request: HTTPRequest, _ type: Value.Type = Value.self)
    throws -> Value
  {
    try JSONDecoder().decode(type, from: request.body)
  }

  /// A page of somebody else, open in the same browser, must not reach us: neither by sending its
  /// form here nor by a name that leads to this machine.
  private func refuseStrangers(_ request: HTTPRequest) -> HTTPResponse? {
    let host = request.header("host") ?? ""
    let name = host.split(separator: ":").first.map(String.init) ?? ""
    guard ["127.0.0.1", "localhost"].contains(name) else {
      return problem(403, "host is \(host), want 127.0.0.1 or localhost")
    }
    if let origin = request.header("origin"), origin != "http://\(host)" {
      return problem(403, "origin is \(origin), want http://\(host)")
    }
    return nil
  }

  private var unknown: HTTPResponse { problem(404, "there is no such thing here") }

  private func problem(_ status: Int, _ detail: String) -> HTTPResponse {
    let body: JSONValue = [
      "type": "about:blank", "status": .integer(Int64(status)), "detail": .string(detail),
    ]
    return .json(status, body, contentType: "application/problem+json")
  }
}

private struct SessionChoice: Decodable {
  let session: SessionID

  enum CodingKeys: String, CodingKey { case session = "session_id" }
}
