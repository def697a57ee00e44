import Vocabulary

/// One request that came to the stand-in for APNs.
struct ReceivedPush: Hashable, Sendable {
  /// Counts all requests, from 1.
  let number: Int
  let at: UnixTime
  let phone: String
  /// The first digits of the token: one of a phone's or one of a card's.
  let token: String
  let session: String?
  let type: String
  /// `start`, `update`, `end`; nil for others.
  let event: String?
  let rev: Int?
  /// `aps.timestamp`.
  let stamp: Int64?
  let id: String
  let collapseID: String?
  /// Whether APNs took it, so that it is with its phone or waits for it; the answer may be lost.
  let isTaken: Bool
}

extension ReceivedPush {
  /// As the simulator's control API tells it; nil when a part is missing that every push has.
  init?(_ json: JSONValue) {
    guard let number = json["number"]?.whole, let id = json["apns_id"]?.text,
      let time = json["at"]?.text.flatMap({ UnixTime($0) }), let token = json["token"]?.text,
      let type = json["push_type"]?.text, case .bool(let isTaken)? = json["taken"]
    else { return nil }
    self.number = number
    at = time
    phone = json["phone"]?.text ?? ""
    self.token = token
    session = json["session"]?.text
    self.type = type
    event = json["event"]?.text
    rev = json["rev"]?.whole
    stamp = json["stamp"]?.whole.map(Int64.init)
    self.id = id
    collapseID = json["collapse_id"]?.text
    self.isTaken = isTaken
  }
}
