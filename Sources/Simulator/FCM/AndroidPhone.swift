import Foundation
import Vocabulary

/// One virtual Android phone with the app: shows a card per message, guards by rev, and can start a
/// card from any message, also after its process ended. A value.
package struct AndroidPhone: Hashable, Sendable {
  package struct Identity: Hashable, Sendable {
    package let id: String
    package let userID: UserID
    /// What the page calls its owner.
    package let name: String
    /// FCM replaces it at times.
    package internal(set) var token: String
    package let deviceID: String
    /// Which app; nil: the one the API knows.
    package let packageName: String?
  }

  package enum Standing: String, Hashable, Sendable, Codable { case live, ended, dismissed }

  package struct Card: Hashable, Sendable {
    package let contextKey: ContextKey
    package let sessionID: SessionID
    /// The attributes type.
    package let kind: String
    package var rev: Int
    package var standing: Standing
    package var attributes: JSONValue
    package var contentState: JSONValue
    package var changedAt: UnixTime
  }

  package private(set) var identity: Identity
  package private(set) var isOnline = true
  package private(set) var isInstalled = true
  /// Oldest first.
  package private(set) var cards: [Card] = []
  /// What FCM keeps while it is away: of each collapse key the newest.
  package private(set) var held: [FCMMessage] = []
  /// Messages that came.
  package private(set) var received = 0
  /// Messages of a state that was no newer than what is shown.
  package private(set) var olderIgnored = 0
  package private(set) var sounds = 0

  /// FCM keeps so many messages without a collapse key.
  private static let heldMax = 100

  init(_ identity: Identity) { self.identity = identity }

  mutating func receive(_ message: FCMMessage, at now: UnixTime) -> [Finding] {
    guard isOnline else {
      held.removeAll { $0.collapseKey != nil && $0.collapseKey == message.collapseKey }
      if held.count < Self.heldMax { held.append(message) }
      return []
    }
    received += 1
    return show(message, at: now)
  }

  private mutating func show(_ message: FCMMessage, at now: UnixTime) -> [Finding] {
    let data = message.data
    guard let rev = message.rev, let context = data["contextKey"], let session = data["sessionId"],
      let kind = data["kind"], let event = data["event"], data["timestamp"] != nil,
      let state = Self.json(data["contentState"])
    else { return [Finding(.contentState, "the data of a message lacks what a card needs")] }
    let key = ContextKey(context)
    let place = cards.firstIndex { $0.contextKey == key }
    if let place {
      guard cards[place].rev < rev else {
        olderIgnored += 1
        return []
      }
      // Swiped away, or over: it does not come back.
      guard cards[place].standing == .live else { return [] }
    }
    let isEnd = event == "end"
    var findings: [Finding] = []
    if data["alertTitle"] != nil {
      sounds += 1
      if message.priority != "HIGH" { findings.append(Finding(.priority, "an alert goes NORMAL")) }
    }
    // Nothing to end.
    if isEnd, place == nil { return findings }
    let attributes = Self.json(data["attributes"])
    if attributes == nil, !isEnd {
      findings.append(Finding(.attributes, "\(event) could not start the card again"))
    }
    if let place {
      cards[place].rev = rev
      cards[place].contentState = state
      cards[place].standing = isEnd ? .ended : .live
      cards[place].changedAt = now
      if let attributes { cards[place].attributes = attributes }
    } else {
      cards.append(
        Card(
          contextKey: key, sessionID: SessionID(session), kind: kind, rev: rev, standing: .live,
          attributes: attributes ?? [:], contentState: state, changedAt: now))
    }
    return findings
  }

  private static func json(_ text: String?) -> JSONValue? {
    text.flatMap { try? JSONValue(parsing: Data($0.utf8)) }
  }

  mutating func goOffline() { isOnline = false }

  mutating func goOnline(at now: UnixTime) -> [Finding] {
    isOnline = true
    let kept = held
    held = []
    return kept.flatMap { receive($0, at: now) }
  }

  mutating func uninstall() {
    isInstalled = false
    held = []
    cards = []
  }

  /// Its notifications go, as when the process is killed; the next message brings them back.
  mutating func forget() { cards.removeAll { $0.standing == .live } }

  /// FCM gives it another token, and its app registers that one.
  ///
  /// - Returns: what the app tells the API.
  mutating func rotateToken(to token: String) -> [PhoneCall] {
    guard isInstalled else { return [] }
    identity.token = token
    return [registration]
  }

  /// The owner swipes the live card of a session away, or all.
  ///
  /// - Returns: what the app tells the API.
  mutating func dismiss(_ session: SessionID?) -> [PhoneCall] {
    var calls: [PhoneCall] = []
    for place in cards.indices
    where cards[place].standing == .live && (session == nil || cards[place].sessionID == session) {
      cards[place].standing = .dismissed
      calls.append(
        PhoneCall(
          path: "/api/live-activities/report",
          body: [
            "context_key": .string(cards[place].contextKey.text), "state": "dismissed",
            "rev": .integer(Int64(cards[place].rev)),
          ]))
    }
    return calls
  }

  var registration: PhoneCall {
    var body: [String: JSONValue] = [
      "token": .string(identity.token), "device_id": .string(identity.deviceID),
    ]
    if let name = identity.packageName { body["package"] = .string(name) }
    return PhoneCall(path: "/api/fcm/register", body: .object(body))
  }
}

/// All virtual Android phones. A value, like ``Fleet``.
package struct AndroidFleet: Sendable {
  /// How many phones one simulator holds.
  package static let phonesMax = 20_000

  package private(set) var phones: [String: AndroidPhone] = [:]
  /// In the order they were added.
  package private(set) var ids: [String] = []
  /// Rises with each change of any phone.
  package private(set) var changeNumber = 0
  private var changes: [String: Int] = [:]
  private var places: [String: String] = [:]

  package init() {}

  /// - Throws: ``SettingsError`` when there are too many or the id is taken.
  mutating func add(
    id: String?, userID: UserID, name: String, packageName: String?, mint: inout TokenMint
  ) throws(SettingsError) -> AndroidPhone {
    guard phones.count < Self.phonesMax else {
      throw SettingsError(["phones: there are \(phones.count), want at most \(Self.phonesMax)"])
    }
    var number = 1
    while phones["\(userID)-android-\(number)"] != nil { number += 1 }
    let id = id ?? "\(userID)-android-\(number)"
    guard phones[id] == nil else { throw SettingsError(["id: \(id) is taken, want a new one"]) }
    let phone = AndroidPhone(
      .init(
        id: id, userID: userID, name: name,
        token: mint.fcmToken(), deviceID: mint.uuid(), packageName: packageName))
    phones[id] = phone
    ids.append(id)
    places[phone.identity.token] = id
    touch(id)
    return phone
  }

  /// Gives one phone a new token. From now on FCM answers `UNREGISTERED` to the one before.
  ///
  /// - Returns: what its app tells the API.
  mutating func rotateToken(of id: String, mint: inout TokenMint) -> [PhoneCall] {
    let token = mint.fcmToken()
    let calls = act(on: id) { $0.rotateToken(to: token) } ?? []
    if !calls.isEmpty { places[token] = id }
    return calls
  }

  /// Whose token it is or was; nil when nobody ever had it.
  func id(ofToken token: String) -> String? { places[token] }

  /// Lets something happen to one phone.
  mutating func act<Value>(on id: String, _ happening: (inout AndroidPhone) -> Value) -> Value? {
    guard var phone = phones[id] else { return nil }
    let value = happening(&phone)
    phones[id] = phone
    touch(id)
    return value
  }

  private mutating func touch(_ id: String) {
    changeNumber += 1
    changes[id] = changeNumber
  }

  /// Those of the first `limit` that changed after `number`, in the order they were added.
  func phones(changedAfter number: Int, among limit: Int) -> [AndroidPhone] {
    guard number < changeNumber else { return [] }
    return ids.prefix(limit).filter { changes[$0, default: 0] > number }.compactMap { phones[$0] }
  }
}
