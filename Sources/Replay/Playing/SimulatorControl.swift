import ActivityContracts
import Foundation
import HTTPClient
import Vocabulary

/// The simulator's control API as a replay needs it. Owned by one thread.
final class SimulatorControl {
  static let timeout: Duration = .seconds(30)

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// One request to the stand-in for APNs.
  struct Push: Decodable {
    let number: Int
    let at: UnixTime
    let phone: String?
    let session: String?
    let event: String?
    let rev: Int?
    /// What tells the states of an activity's card apart.
    let state: String?
    /// Whether APNs took it, whatever it answered.
    let isTaken: Bool
    let apnsID: String?

    enum CodingKeys: String, CodingKey {
      case number, at, phone, session, event, rev, state
      case isTaken = "taken"
      case apnsID = "apns_id"
    }
  }

  struct Cards: Decodable {
    struct Card: Decodable {
      let phone: String
      let session: String
      let rev: Int
      let state: String?
      let standing: String
    }
    let phones: Int
    let cards: [Card]
  }

  struct Tally: Decodable {
    struct Complaint: Decodable {
      let rule: String
      let detail: String
      let phone: String?
    }
    let phones: Int
    let pushes: [String: Int]
    let newestPush: Int
    let complaintCount: Int
    let complaints: [Complaint]
    let callsWaiting: Int

    enum CodingKeys: String, CodingKey {
      case phones, pushes, complaints
      case newestPush = "newest_push"
      case complaintCount = "complaint_count"
      case callsWaiting = "calls_waiting"
    }
  }

  /// A card that a phone's app starts itself.
  struct OwnCard: Encodable {
    let attributes: CookSuggestActivityAttributes
    let contentState: CookSuggestActivityAttributes.ContentState
    let staleAt: UnixTime

    enum CodingKeys: String, CodingKey {
      case attributes
      case contentState = "content_state"
      case staleAt = "stale_at"
    }
  }

  /// APNs knows a card of an activity by the collapse id of its start, which says which one.
  static func subject(_ session: String) -> SessionID {
    let start = "start:"
    return SessionID(session.hasPrefix(start) ? String(session.dropFirst(start.count)) : session)
  }

  private let client = HTTPClient(timeout: timeout)
  private let url: String

  /// `url`: `http://127.0.0.1:8181`.
  init(url: String) { self.url = url.hasSuffix("/") ? String(url.dropLast()) : url }

  func pushes(after number: Int, atMost limit: Int) throws -> [Push] {
    try decoded("GET", "/pushes?after=\(number)&limit=\(limit)")
  }

  func tally() throws -> Tally { try decoded("GET", "/tally") }

  func cards(from place: Int, atMost limit: Int) throws -> Cards {
    try decoded("GET", "/cards?from=\(place)&limit=\(limit)")
  }

  func start(_ card: OwnCard, on phone: String) throws {
    _ = try call("POST", "/phones/\(phone)/start-local", JSON.encoded(card))
  }

  /// - Returns: whether the API knows its tokens already; true too when the phone was there.
  func addPhone(_ order: JSONValue, id: String) throws -> Bool {
    let answer = try send("POST", "/phones", order.encoded)
    if answer.status == 422, answer.text.contains("is taken") { return true }
    guard answer.status == 201 else { throw refusal("POST", "/phones", answer) }
    return try JSONValue(parsing: answer.body)["registered"] == true
  }

  func removePhones(ofUsersWith prefix: String) throws {
    _ = try call("DELETE", "/phones?user_prefix=\(prefix)")
  }

  private func decoded<Value: Decodable>(_ method: String, _ path: String) throws -> Value {
    try JSON.decode(Value.self, from: call(method, path).body)
  }

  private func call(_ method: String, _ path: String, _ body: Data? = nil) throws
    -> HTTPClientResponse
  {
    let answer = try send(method, path, body)
    guard (200..<300).contains(answer.status) else { throw refusal(method, path, answer) }
    return answer
  }

  private func send(_ method: String, _ path: String, _ body: Data?) throws -> HTTPClientResponse {
    try client.send(
      method, url + path, headers: body == nil ? [:] : ["content-type": "application/json"],
      body: body)
  }

  private func refusal(_ method: String, _ path: String, _ answer: HTTPClientResponse) -> Failure {
    Failure(
      description: "simulator: \(method) \(path): \(answer.status) \(answer.text.prefix(300))")
  }
}
