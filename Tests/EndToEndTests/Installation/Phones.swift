import Foundation
import HTTPClient
import Testing
import Vocabulary

/// The simulator's control API, as the tests need it.
struct Phones {
  private let installation: Installation

  init(_ installation: Installation) { self.installation = installation }

  private func call(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue
  {
    let answer = try installation.client.send(
      method, installation.simulatorURL + path, headers: ["content-type": "application/json"],
      body: body?.encoded)
    try #require((200..<300).contains(answer.status), "\(method) \(path): \(answer.text)")
    return try JSONValue(parsing: answer.body)
  }

  /// A phone of `user`, its tokens registered; `id` nil is the user's name, `app` nil the cook
  /// session's.
  func add(_ user: String, id: String? = nil, app: String? = nil) throws {
    let answer = try call(
      "POST", "/phones",
      [
        "attributes_type": app.map { .string($0) } ?? .null, "id": .string(id ?? user),
        "user_id": .string(user), "name": .string(user.capitalized),
        "emoji": "🐢", "tint": "teal", "locale": "de-DE",
        "token": .string(try installation.token(user)), "api_url": .string(installation.apiURL),
      ])
    guard answer["registered"] == true else {
      throw Unexpected("\(user)'s phone is not registered\n\(installation.logs())")
    }
  }

  /// A browser of `user`, subscribed.
  func addBrowser(_ user: String) throws {
    _ = try call(
      "POST", "/browsers",
      [
        "id": .string("\(user)s-browser"), "user_id": .string(user),
        "token": .string(try installation.token(user)),
      ])
  }

  /// `what`: `offline`, `online`, `rotate`, `dismiss` or `uninstall`.
  func make(_ phone: String, _ what: String, of session: String? = nil) throws {
    _ = try call(
      "POST", "/phones/\(phone)/\(what)", session.map { ["session_id": .string($0)] })
  }

  /// All there ever were, newest first.
  func cards(of phone: String) throws -> [Card] {
    guard case .array(let cards)? = try call("GET", "/phones/\(phone)")["cards"] else { return [] }
    return cards.map(Card.init)
  }

  func startLocally(_ session: CookSession, on phone: String) throws {
    _ = try call("POST", "/phones/\(phone)/start-local", ["session_id": .string(session.id)])
  }

  /// Newest first.
  func cards(of phone: String, in session: CookSession) throws -> [Card] {
    guard case .array(let cards)? = try call("GET", "/phones/\(phone)")["cards"] else { return [] }
    return cards.filter { $0["attributes"]?["sessionId"] == .string(session.id) }.map(Card.init)
  }

  struct Card {
    let json: JSONValue
    /// `active`, `stale`, `ended`, `dismissed`, `removed`.
    var standing: String { json["standing"]?.text ?? "" }
    var rev: Int { json["content_state"]?["rev"]?.whole ?? 0 }
    var state: String { json["content_state"]?["state"]?.text ?? "" }
  }

  func banners(of phone: String) throws -> [JSONValue] {
    guard case .array(let banners)? = try call("GET", "/phones/\(phone)")["banners"] else {
      return []
    }
    return banners
  }

  /// Until the API has heard all that phones have to say.
  func awaitHeard() throws {
    try installation.wait(for: "every phone to be heard") {
      try verdict()["calls_waiting"] == 0
    }
  }

  /// What came to one phone, oldest first.
  func pushes(to phone: String) throws -> [Push] {
    guard case .array(let pushes) = try call("GET", "/pushes?limit=1000") else { return [] }
    return pushes.filter { $0["phone"] == .string(phone) }.map(Push.init)
  }

  /// All that came to the stand-in for APNs, oldest first.
  ///
  /// - Throws: when it does not remember the first any more.
  func allPushes() throws -> [JSONValue] {
    guard case .array(let pushes) = try call("GET", "/pushes?limit=2000") else { return [] }
    try #require(pushes.isEmpty || pushes.first?["number"] == 1, "the first are forgotten")
    return pushes
  }

  struct Push {
    let json: JSONValue
    /// `start`, `update`, `end`; nil for an alert.
    var event: String? { json["event"]?.text }
    var rev: Int? { json["rev"]?.whole }
    var status: Int? { json["status"]?.whole }
  }

  /// From now on these faults strike, and no other.
  func setFaults(_ faults: JSONValue) throws { _ = try call("POST", "/faults", faults) }

  func verdict() throws -> JSONValue { try call("GET", "/verdict") }

  /// Waits until every phone shows what `GET` says, with `cards` of them compared, and checks that
  /// nothing was doubled or went back on the way.
  func awaitTruth(cards: Int, within limit: Duration = Installation.patience) throws {
    var verdict = JSONValue.null
    do {
      try installation.wait(for: "every phone to show the truth", within: limit) {
        verdict = try self.verdict()
        return verdict["ok"] == true && verdict["compared"]?.whole == cards
      }
    } catch {
      throw Unexpected("\(error)\nverdict: \(String(decoding: verdict.encoded, as: UTF8.self))")
    }
    #expect(verdict["doubled_starts"] == 0)
    #expect(verdict["older_shown"] == 0)
  }
}

extension JSONValue {
  var text: String? { if case .string(let text) = self { text } else { nil } }
  var whole: Int? { if case .integer(let number) = self { Int(number) } else { nil } }
  /// Of an array; none of anything else.
  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}
