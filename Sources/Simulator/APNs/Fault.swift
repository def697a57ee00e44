import Foundation
import Vocabulary

/// A wish for trouble: which pushes, what happens to them, how often.
///
/// Written as JSON, `{"match": {"push_type": "liveactivity", "percent": 5}, "action": "answer",
/// "status": 503, "reason": "ServiceUnavailable", "count": 100}`. A file holds an array of them.
package struct Fault: Hashable, Sendable, Codable {
  package enum Action: String, Codable, Hashable, Sendable, CaseIterable {
    /// Answers `status` and `reason`, with `retry_after_seconds`.
    case answer
    /// Answers as usual, `delay_ms` later.
    case delay
    /// Never answers; the connection lives.
    case never
    /// Closes the TCP connection.
    case drop
    /// RST_STREAM with INTERNAL_ERROR.
    case reset
    /// GOAWAY below this stream, with `reason`.
    case goaway
    /// Nothing is read or written on the connection any more, and it stays open.
    case deaf
    /// This push and every later one on its connection get `status` and `reason`, whatever they
    /// are: a connection that is broken for good. Absent: 500 InternalServerError.
    case poison
    /// As usual, but a connection that answers a 400 is held to one stream until its next 200. It
    /// stands as long as it is among the faults and leaves the pushes to those after it.
    case narrow
    /// As usual, but its connection may have `streams` open from now on; absent: as many as when it
    /// was warm.
    case limit
    /// New connections may have `streams` open until their first 200; absent: as many as after it.
    /// Without this fault it is one, as at Apple. It stands, as `narrow` does.
    case start

    /// It stands as long as it is among the faults, and strikes no single push.
    var stands: Bool {
      switch self {
      case .narrow, .start: true
      case .answer, .delay, .never, .drop, .reset, .goaway, .deaf, .poison, .limit: false
      }
    }
  }

  /// Everything that is given must fit; nothing given fits every push.
  package struct Match: Hashable, Sendable, Codable {
    /// A push type of APNs, `web-push`, or `fcm`, whose `reason` is an error code of FCM.
    package var pushType: String?
    /// `start`, `update` or `end`.
    package var event: String?
    /// Lower-case digits; of a Web Push: the subscription.
    package var token: String?
    /// The id of a phone or browser.
    package var phone: String?
    /// 10, 5 or 1. `answer` 200 to those of priority 10 is what a phone out of budget looks like:
    /// APNs takes them, and they never show. See ``PushBudget`` for one that counts.
    package var priority: Int?
    /// 0 to 100; absent means all.
    package var percent: Double?

    enum CodingKeys: String, CodingKey, CaseIterable {
      case pushType = "push_type"
      case event, token, phone, priority, percent
    }

    package init(
      pushType: String? = nil, event: String? = nil, token: String? = nil, phone: String? = nil,
      priority: Int? = nil, percent: Double? = nil
    ) {
      self.pushType = pushType
      self.event = event
      self.token = token
      self.phone = phone
      self.priority = priority
      self.percent = percent
    }
  }

  package var match: Match?
  package var action: Action
  package var status: Int?
  package var reason: String?
  /// The answer's `retry-after`.
  package var retryAfterSeconds: Int?
  package var delayMilliseconds: Int?
  package var streams: Int?
  /// Whether the phone gets the push all the same: an answer that was lost, not a push.
  package var delivers: Bool?
  /// Strikes each so-manieth of the pushes that fit, `{"action": "goaway", "every": 300}`; absent
  /// means each of them.
  package var every: Int?
  /// How often it strikes; absent means without end.
  package var count: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case match, action, status, reason
    case retryAfterSeconds = "retry_after_seconds"
    case delayMilliseconds = "delay_ms"
    case streams, delivers, every, count
  }

  package init(
    _ action: Action, match: Match? = nil, status: Int? = nil, reason: String? = nil,
    retryAfterSeconds: Int? = nil, delayMilliseconds: Int? = nil, streams: Int? = nil,
    delivers: Bool? = nil, every: Int? = nil, count: Int? = nil
  ) {
    self.match = match
    self.action = action
    self.status = status
    self.reason = reason
    self.retryAfterSeconds = retryAfterSeconds
    self.delayMilliseconds = delayMilliseconds
    self.streams = streams
    self.delivers = delivers
    self.every = every
    self.count = count
  }

  /// Reads an array of faults.
  ///
  /// - Throws: ``SettingsError`` that names each problem with the place it is at.
  package static func list(reading json: Data) throws(SettingsError) -> [Fault] {
    let faults: [Fault]
    do {
      try refuseUnknownNames(in: JSONValue(parsing: json))
      faults = try JSONDecoder().decode([Fault].self, from: json)
    } catch let error as SettingsError {
      throw error
    } catch {
      throw SettingsError(["faults: not an array of faults: \(error)"])
    }
    let problems = faults.enumerated().flatMap { index, fault in
      fault.problems.map { "faults[\(index)].\($0)" }
    }
    guard problems.isEmpty else { throw SettingsError(problems) }
    return faults
  }

  /// A misspelt name would otherwise make a fault that strikes everything.
  private static func refuseUnknownNames(in json: JSONValue) throws(SettingsError) {
    guard case .array(let items) = json else { return }
    var problems: [String] = []
    for (index, item) in items.enumerated() {
      let known = Set(CodingKeys.allCases.map(\.rawValue))
      let knownInMatch = Set(Match.CodingKeys.allCases.map(\.rawValue))
      if case .object(let members) = item {
        problems += members.keys.filter { !known.contains($0) }.sorted()
          .map { "faults[\(index)].\($0): unknown name" }
      }
      if case .object(let members) = item["match"] {
        problems += members.keys.filter { !knownInMatch.contains($0) }.sorted()
          .map { "faults[\(index)].match.\($0): unknown name" }
      }
    }
    guard problems.isEmpty else { throw SettingsError(problems) }
  }

  private var problems: [String] {
    var found: [String] = []
    if action == .answer, !(200...599).contains(status ?? 0) {
      found.append("status: \(status.map(String.init) ?? "absent"), want 200 to 599")
    }
    if action == .delay, !(1...600_000).contains(delayMilliseconds ?? 0) {
      let given = delayMilliseconds.map(String.init) ?? "absent"
      found.append("delay_ms: \(given), want 1 to 600000")
    }
    if action == .poison, let status, !(400...599).contains(status) {
      found.append("status: \(status), want 400 to 599")
    }
    if let streams, !(1...1000).contains(streams) {
      found.append("streams: \(streams), want 1 to 1000")
    }
    if let every, every < 1 { found.append("every: \(every), want 1 or more") }
    if let priority = match?.priority, ![1, 5, 10].contains(priority) {
      found.append("match.priority: \(priority), want 1, 5 or 10")
    }
    if let count, count < 1 { found.append("count: \(count), want 1 or more") }
    if let percent = match?.percent, !(0...100).contains(percent) {
      found.append("match.percent: \(percent), want 0 to 100")
    }
    if let type = match?.pushType, type != WebPushService.pushType,
      type != FCMService.pushType, PushType(rawValue: type) == nil
    {
      found.append("match.push_type: \(type), want a push type of APNs, web-push or fcm")
    }
    if let event = match?.event, PushPayload.Event(rawValue: event) == nil {
      found.append("match.event: \(event), want start, update or end")
    }
    return found
  }
}
