import Foundation
import HTTPClient
import ServiceRuntime
import Vocabulary

/// The simulator's control API, as far as the demonstration needs it.
final class SimulatedPhones {
  private let client = HTTPClient(timeout: .seconds(10))
  private let url: String

  init(url: String) { self.url = url }

  struct Verdict {
    let isTrue: Bool
    let phones: Int
    let androids: Int
    let compared: Int
    let equal: Int
    let starts: Int
    let doubledStarts: Int
    let olderShown: Int
    let complaints: [String]
  }

  struct Push {
    /// `start 200`, `FCM start 200`.
    let answer: String
    /// From the mutation to the push's arrival.
    let milliseconds: Int64?
  }

  private func call(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue
  {
    let answer = try client.send(
      method, url + path, headers: ["content-type": "application/json"], body: body?.encoded)
    guard (200..<300).contains(answer.status) else {
      throw CommandFailure(
        .unavailable, "simulator: \(method) \(path): \(answer.status) \(answer.text.prefix(300))")
    }
    return try JSONValue(parsing: answer.body)
  }

  func add(_ person: Person, token: String, apiURL: String) throws {
    _ = try call(
      "POST", "/phones",
      [
        "id": .string(person.id), "user_id": .string(person.id), "name": .string(person.name),
        "tint": .string(person.tint), "emoji": .string(person.emoji), "locale": "de-DE",
        "token": .string(token), "api_url": .string(apiURL), "bell": true,
      ])
  }

  /// Gives a person an Android phone besides.
  func addAndroid(of person: Person, token: String, apiURL: String) throws {
    _ = try call(
      "POST", "/androids",
      [
        "id": .string(Self.android(of: person)), "user_id": .string(person.id),
        "name": .string(person.name), "tint": .string(person.tint),
        "emoji": .string(person.emoji), "locale": "de-DE", "token": .string(token),
        "api_url": .string(apiURL),
      ])
  }

  private static func android(of person: Person) -> String { "\(person.id)-android" }

  /// Gives a person a browser that takes Web Push.
  func addBrowser(of person: Person, token: String, apiURL: String) throws {
    _ = try call(
      "POST", "/browsers",
      [
        "id": .string(Self.browser(of: person)), "user_id": .string(person.id),
        "name": .string(person.name), "token": .string(token), "api_url": .string(apiURL),
        "bell": true,
      ])
  }

  private static func browser(of person: Person) -> String { "\(person.id)-browser" }

  /// The invitation of `person` to a session, on all channels.
  func invitation(of person: Person, to session: String) throws -> InvitationChannels {
    InvitationChannels(
      session: session, phone: try call("GET", "/phones/\(person.id)"),
      browser: try call("GET", "/browsers/\(Self.browser(of: person))"))
  }

  func startLocally(session: String, on phone: String) throws {
    _ = try call("POST", "/phones/\(phone)/start-local", ["session_id": .string(session)])
  }

  private func cardJSON(of person: Person, in session: String) throws -> JSONValue? {
    let phone = try call("GET", "/phones/\(person.id)")
    guard case .array(let cards)? = phone["cards"] else { return nil }
    return cards.first { $0["attributes"]?["sessionId"] == .string(session) }
  }

  func rev(of person: Person, in session: String) throws -> Int? {
    guard let card = try cardJSON(of: person, in: session),
      case .integer(let rev)? = card["content_state"]?["rev"]
    else { return nil }
    return Int(rev)
  }

  private func androidCard(of person: Person, in session: String) throws -> JSONValue? {
    let phone = try call("GET", "/androids/\(Self.android(of: person))")
    guard case .array(let cards)? = phone["cards"] else { return nil }
    return cards.first { $0["attributes"]?["sessionId"] == .string(session) }
  }

  /// What the person's Android phone shows.
  func androidRev(of person: Person, in session: String) throws -> Int? {
    guard case .integer(let rev)? = try androidCard(of: person, in: session)?["rev"] else {
      return nil
    }
    return Int(rev)
  }

  /// One card as text for the terminal.
  func card(of person: Person, in session: String) throws -> String {
    words(try cardJSON(of: person, in: session), of: person.name)
  }

  /// The same of the person's Android phone.
  func androidCardText(of person: Person, in session: String) throws -> String {
    words(try androidCard(of: person, in: session), of: "  on Android")
  }

  private func words(_ card: JSONValue?, of owner: String) -> String {
    guard let card, let state = card["content_state"] else { return "    \(owner): no card" }
    let partner =
      "\(text(card["attributes"]?["partnerEmoji"])) \(text(card["attributes"]?["partnerName"]))"
    var parts = [text(state["statusLabel"])]
    if case .integer(let count)? = state["proposalCount"], count > 0 { parts.append("\(count) ▤") }
    if let step = words(state["deepLinkStep"]) { parts.append("→ \(step)") }
    if state["ended"] == true { parts.append("✓ ended") }
    return "    \(padded(owner, 12)) │ with \(padded(partner, 13)) │ "
      + "rev \(padded(text(state["rev"]), 2)) │ \(parts.joined(separator: "  "))"
  }

  func verdict() throws -> Verdict {
    let json = try call("GET", "/verdict")
    func number(_ name: String) -> Int {
      if case .integer(let value)? = json[name] { Int(value) } else { 0 }
    }
    var complaints: [String] = []
    for name in ["differences", "complaints", "unknown"] {
      if case .array(let all)? = json[name] {
        complaints += all.prefix(10).map { String(decoding: $0.encoded, as: UTF8.self) }
      }
    }
    let waiting = number("calls_waiting")
    if waiting > 0 { complaints.append("\(waiting) calls of phones have not been heard yet") }
    return Verdict(
      isTrue: json["ok"] == true, phones: number("phones"),
      androids: number("androids"), compared: number("compared"), equal: number("equal"),
      starts: number("starts"), doubledStarts: number("doubled_starts"),
      olderShown: number("older_shown"), complaints: complaints)
  }

  /// The number of the newest push; 0 when there was none.
  func newestPush() throws -> Int64 {
    guard case .array(let all) = try call("GET", "/pushes?limit=1"),
      case .integer(let number)? = all.last?["number"]
    else { return 0 }
    return number
  }

  /// Those of one play: the simulator keeps those of earlier ones, whose revs are the same.
  func pushes(after number: Int64, of session: String, times: MutationTimes) throws -> [Push] {
    guard case .array(let all) = try call("GET", "/pushes?limit=1000&after=\(number)") else {
      return []
    }
    return all.map { push in
      var milliseconds: Int64?
      if case .integer(let rev)? = push["rev"], case .string(let at)? = push["at"],
        let arrival = UnixTime(at), let asked = times.time(session: session, rev: Int(rev))
      {
        milliseconds = (arrival - asked).milliseconds
      }
      let what = words(push["event"]) ?? text(push["push_type"])
      let service = push["push_type"] == "fcm" ? "FCM " : ""
      return Push(
        answer: "\(service)\(what) \(text(push["status"]))", milliseconds: milliseconds)
    }
  }

  private func words(_ value: JSONValue?) -> String? {
    if case .string(let text)? = value { text } else { nil }
  }

  private func text(_ value: JSONValue?) -> String {
    switch value {
    case .string(let text)?: text
    case .integer(let number)?: String(number)
    default: "–"
    }
  }

  private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
