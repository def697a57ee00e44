import Cryptography
import Foundation
import HTTPClient
import Pipeline
import TestSupport
import Vocabulary

/// Plays one session after the other, for two people and the kitchen: looks at the state, does what
/// fits, and writes down what it was answered. One thread runs it.
final class Player {
  struct Equipment: Sendable {
    /// Through the proxy.
    let apiURL: String
    /// What phones use: not through the proxy.
    let phonesAPIURL: String
    let simulatorURL: String
    let keys: JSONWebKeySet
    let record: PlayersRecord
  }

  /// A phone takes ten starts within five minutes; then two other people play.
  private static let sessionsEach = 6
  static let kitchen = "kitchen"

  private let number: Int
  private let equipment: Equipment
  private let client = HTTPClient(timeout: .milliseconds(1500))
  private let simulator = HTTPClient(timeout: .seconds(30))
  private var random: SeededRandom
  private var bearers: [String: String] = [:]
  private var played = 0
  /// Of the session that is played.
  private var seenRev = 0
  private var record: PlayersRecord { equipment.record }

  init(number: Int, seed: UInt64, _ equipment: Equipment) {
    self.number = number
    self.equipment = equipment
    random = SeededRandom(seed: seed &+ UInt64(number) &* 0x9E37)
  }

  private var host: String { "host-\(number)-\(played / Self.sessionsEach)" }
  private var guest: String { "guest-\(number)-\(played / Self.sessionsEach)" }

  func run() {
    while !record.isOver {
      if played % Self.sessionsEach == 0 { addPhones() }
      if let session = open() { play(session) }
      played += 1
    }
  }

  // MARK: One session

  private func play(_ session: String) {
    record.opened(session)
    showOwnCard(session)
    var picks = Int.random(in: 4...40, using: &random)
    let isCancelled = random.happens(onceIn: 6)
    while !record.isOver {
      guard waitForAllowance(), let seen = look(session) else { continue }
      switch seen["state"]?.text {
      case "decided", "cancelled": return
      case "answering": answer(session, seen)
      case "generating", "finalizing": cook(session, seen)
      case "proposed" where picks > 0:
        picks -= 1
        pick(session, seen)
      case "proposed":
        if isCancelled { act(guest, session, "cancel") } else { confirm(session, seen) }
      default: return
      }
    }
  }

  private func answer(_ session: String, _ seen: JSONValue) {
    if participant(guest, in: seen)?["status"] == "invited" {
      act(guest, session, "join")
    }
    for user in [host, guest] where participant(user, in: seen)?["ready"] != true {
      act(user, session, "answers", ["answers": ["hunger": "groß"]])
      act(user, session, "ready", ["ready": true])
    }
  }

  private func pick(_ session: String, _ seen: JSONValue) {
    let user = random.happens(onceIn: 2) ? host : guest
    let now = participant(user, in: seen)?["pick_proposal_id"]
    act(user, session, "pick", ["proposal_id": now == "p1" ? "p2" : "p1"])
  }

  private func confirm(_ session: String, _ seen: JSONValue) {
    for user in [host, guest]
    where participant(user, in: seen)?["confirmed_proposal_id"] != "p1" {
      act(user, session, "confirm", ["proposal_id": "p1"])
    }
  }

  private func cook(_ session: String, _ seen: JSONValue) {
    guard let job = seen["job"], let id = job["job_id"] else { return }
    let isFirst = job["kind"] == "proposals"
    let body: JSONValue =
      isFirst
      ? [
        "job_id": id,
        "proposals": [["id": "p1", "title": "Curry"], ["id": "p2", "title": "Risotto"]],
      ] : ["job_id": id, "title": "Curry"]
    act(Self.kitchen, session, isFirst ? "proposals" : "decision", body)
  }

  private func participant(_ user: String, in seen: JSONValue) -> JSONValue? {
    guard case .array(let all)? = seen["participants"] else { return nil }
    return all.first { $0["user_id"] == .string(user) }
  }

  // MARK: Calling

  private static let sessions = "/api/cook-suggest/sessions"

  private func open() -> String? {
    guard waitForAllowance() else { return nil }
    seenRev = 0
    let body: JSONValue = ["date": "2030-01-31", "with_user_id": .string(guest)]
    let answer = mutate(host, "", Self.sessions, body, mutation: "create")
    return answer?["id"]?.text
  }

  private func act(
    _ user: String, _ session: String, _ action: String, _ body: JSONValue = [:]
  ) {
    _ = mutate(
      user, session, "\(Self.sessions)/\(session)/\(action)", body, mutation: action)
  }

  /// Asks for a mutation, once or again with the same key while no answer comes, and writes down
  /// how it went.
  private func mutate(
    _ user: String, _ session: String, _ path: String, _ body: JSONValue, mutation: String
  ) -> JSONValue? {
    let key = UUIDText.random()
    // Who gives up has an unknown outcome to live with.
    let givesUp = random.happens(onceIn: 2)
    while true {
      let answer = send(user, "POST", path, body, key: key)
      switch answer?.status ?? 0 {
      case 200..<300:
        let json = answer.flatMap { try? JSONValue(parsing: $0.body) }
        let session = session.isEmpty ? json?["id"]?.text ?? "" : session
        let rev = json?["rev"]?.whole ?? 0
        note(session, user, mutation, .accepted(rev: rev, after: seenRev))
        seenRev = rev
        return json
      case 429, 503: break
      case 409 where isInProgress(answer): break
      case let status where (400..<500).contains(status):
        note(session, user, mutation, .refused(status: status))
        return nil
      default:
        if givesUp || record.isOver {
          note(session, user, mutation, .unknown)
          return nil
        }
      }
      pause()
    }
  }

  /// The first call with this key is still at work.
  private func isInProgress(_ answer: HTTPClientResponse?) -> Bool {
    answer?.headers["retry-after"] != nil
  }

  private func note(
    _ session: String, _ user: String, _ mutation: String, _ outcome: PlayedCall.Outcome
  ) {
    record.add(
      PlayedCall(session: session, user: user, mutation: mutation, outcome: outcome))
  }

  private func look(_ session: String) -> JSONValue? {
    let answer = send(host, "GET", "\(Self.sessions)/\(session)", nil, key: nil)
    guard answer?.status == 200, let body = answer?.body else {
      pause()
      return nil
    }
    // A body that is no JSON shows nothing.
    let seen = try? JSONValue(parsing: body)
    seenRev = seen?["rev"]?.whole ?? seenRev
    return seen
  }

  /// Nil when no answer came.
  private func send(
    _ user: String, _ method: String, _ path: String, _ body: JSONValue?, key: String?
  ) -> HTTPClientResponse? {
    var headers = [
      "authorization": "Bearer \(bearer(user))", "content-type": "application/json",
    ]
    if let key { headers["idempotency-key"] = key }
    return try? client.send(
      method, equipment.apiURL + path, headers: headers, body: body?.encoded)
  }

  private func bearer(_ user: String) -> String {
    if let known = bearers[user] { return known }
    let now = SystemTime().now().seconds
    let made =
      equipment.keys.sign(claims: [
        "sub": .string(user), "scope": user == Self.kitchen ? "service" : "user",
        "iat": .integer(now), "exp": .integer(now + 36_000),
      ]) ?? ""
    bearers[user] = made
    return made
  }

  /// People think, too.
  private func pause() { _ = becomesTrue(within: .milliseconds(30)) { record.isOver } }

  /// - Returns: false when the round is over.
  private func waitForAllowance() -> Bool {
    let think = Duration.milliseconds(Int.random(in: 0...20, using: &random))
    _ = becomesTrue(within: think) { record.isOver }
    return becomesTrue(within: .seconds(600)) { record.mayGoOn || record.isOver }
      && !record.isOver
  }

  // MARK: Phones

  /// The host has one phone, the guest two.
  private func addPhones() {
    for (user, id) in [(host, host), (guest, guest), (guest, "\(guest)-tablet")] {
      simulate(
        "/phones",
        [
          "id": .string(id), "user_id": .string(user), "name": .string(user), "emoji": "🐢",
          "tint": "teal", "locale": "de-DE", "token": .string(bearer(user)),
          "api_url": .string(equipment.phonesAPIURL),
        ])
    }
  }

  private func showOwnCard(_ session: String) {
    simulate("/phones/\(host)/start-local", ["session_id": .string(session)])
  }

  /// Again until the simulator could do it: its phones need the API as well.
  private func simulate(_ path: String, _ body: JSONValue) {
    while !record.isOver {
      let answer = try? simulator.send(
        "POST", equipment.simulatorURL + path, headers: ["content-type": "application/json"],
        body: body.encoded)
      if let answer, (200..<300).contains(answer.status) { return }
      pause()
    }
  }
}
