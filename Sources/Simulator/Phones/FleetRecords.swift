import Vocabulary

/// Something wrong that nobody would have been told.
package struct Complaint: Hashable, Sendable, Codable {
  package let rule: Finding.Rule
  package let detail: String
  /// The phone's id.
  package let phone: String?
  package let apnsID: String?
  package let at: UnixTime

  enum CodingKeys: String, CodingKey {
    case rule, detail, phone
    case apnsID = "apns_id"
    case at
  }
}

/// One request to the stand-in for APNs, as the log shows it.
package struct PushRecord: Hashable, Sendable, Codable {
  /// Counts the requests, from 1.
  package internal(set) var number = 0
  package let at: UnixTime
  /// The phone's id; nil when the token leads nowhere.
  package let phone: String?
  /// Which session's card it was for; nil for other pushes.
  package var session: String?
  /// The token's first eight digits; those of the simulator open nothing.
  package let token: String
  /// Of a broadcast; nil for a push to a token.
  package var channel: String?
  package let pushType: String?
  /// `start`, `update` or `end`; nil for other push types.
  package let event: String?
  package let rev: Int?
  /// What tells the states of other contracts than the cook session's apart.
  package var state: String?
  /// `aps.timestamp`, in seconds since 1970; nil when there is none.
  package let stamp: Int64?
  package let priority: Int?
  package let apnsID: String?
  package let collapseID: String?
  package let bytes: Int
  /// Nil when no answer was given.
  package let status: Int?
  package let reason: String?
  /// Whether the service took it, so that it is with its phone or waits for it: an answer may say
  /// otherwise, or be lost.
  package let isTaken: Bool
  /// The fault that struck, if any.
  package let fault: String?
  /// From the stamp `updatedAt` of the state to the arrival, in milliseconds; the stamp has whole
  /// seconds, so up to 1000 too much. Nil without a state.
  package let ageMilliseconds: Int64?
  package let connection: Int

  enum CodingKeys: String, CodingKey {
    case number, at, phone, session, token, channel
    case pushType = "push_type"
    case event, rev, state, stamp, priority
    case apnsID = "apns_id"
    case collapseID = "collapse_id"
    case bytes, status, reason
    case isTaken = "taken"
    case fault
    case ageMilliseconds = "age_ms"
    case connection
  }

  /// What ``Fleet/pushCounts`` counts it under.
  package var outcome: String {
    let answer = [status.map(String.init), reason].compactMap { $0 }.joined(separator: " ")
    return answer.isEmpty ? fault ?? "none" : answer
  }
}
