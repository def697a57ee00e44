import Foundation
import HTTPClient
import HTTPServing
import Vocabulary

/// Virtual Android phones in the control API.
struct AndroidRoutes: Sendable {
  let world: World
  let line: PhoneLine
  /// Where a phone finds the API that is not told.
  let apiURL: String
  let caFile: String?

  /// Nil when the path, or the order, is none of these.
  func answer(_ request: HTTPRequest) throws -> HTTPResponse? {
    let segments = request.segments
    guard segments.first == "androids" else { return nil }
    switch (request.method, segments.count) {
    case ("GET", 1):
      return .json(
        200,
        world.read { state in
          state.androids.ids.prefix(ControlAPI.listedMax).compactMap { state.androids.phones[$0] }
        }.map { AndroidView($0) })
    case ("POST", 1): return .json(201, try add(JSON.decode(PhoneOrder.self, from: request.body)))
    case ("POST", 2) where segments[1] == "revoke":
      world.change { state, _ in
        state.fcmProject?.revoke()
        return ((), [])
      }
      return .json(200, ["revoked": true])
    case ("GET", 2): return view(of: segments[1])
    case ("POST", 3): return try change(segments[1], segments[2], request)
    default: return nil
    }
  }

  private func add(_ order: PhoneOrder) throws -> AndroidView {
    guard !order.token.isEmpty, !order.userID.text.isEmpty else {
      throw SettingsError(["user_id and token: want both, not empty"])
    }
    let phone = try world.change { state, _ in
      let phone = try state.androids.add(
        id: order.id, userID: order.userID, name: order.name ?? order.userID.text,
        packageName: order.package, mint: &state.fleet.mint)
      return (phone, [])
    }
    let id = phone.identity.id
    let account = PhoneLine.Account(trimming: order.apiURL ?? apiURL, bearer: order.token)
    line.connect(id, as: account)
    let client = HTTPClient(timeout: PhoneDesk.timeout, caFile: caFile)
    for call in [order.profile, phone.registration].compactMap({ $0 }) {
      switch PhoneLine.attempt(call, as: account, with: client) {
      case .heard: break
      case .refused(let detail): world.complain(detail, of: id)
      case .unheard:
        world.change { _, _ in ((), [OwnedEffect(phoneID: id, call: call)]) }
      }
    }
    return AndroidView(phone)
  }

  private func view(of id: String) -> HTTPResponse? {
    world.read { $0.androids.phones[id] }.map { .json(200, AndroidView($0)) }
  }

  private func change(_ id: String, _ what: String, _ request: HTTPRequest) throws -> HTTPResponse?
  {
    let session = try request.body.isEmpty ? nil : JSON.decode(Choice.self, from: request.body)
    if what == "rotate" {
      world.change { state, _ in
        let calls = state.androids.rotateToken(of: id, mint: &state.fleet.mint)
        return ((), calls.map { OwnedEffect(phoneID: id, call: $0) })
      }
      return view(of: id)
    }
    let happening: (inout AndroidPhone, UnixTime) -> ([Finding], [PhoneCall])
    switch what {
    case "offline":
      happening = { phone, _ in
        phone.goOffline()
        return ([], [])
      }
    case "online": happening = { phone, now in (phone.goOnline(at: now), []) }
    case "forget":
      happening = { phone, _ in
        phone.forget()
        return ([], [])
      }
    case "uninstall":
      happening = { phone, _ in
        phone.uninstall()
        return ([], [])
      }
    case "dismiss": happening = { phone, _ in ([], phone.dismiss(session?.session)) }
    default: return nil
    }
    world.change { state, now in
      let (findings, calls) = state.androids.act(on: id) { happening(&$0, now) } ?? ([], [])
      for finding in findings { state.fleet.complain(finding, of: id, apnsID: nil, at: now) }
      return ((), calls.map { OwnedEffect(phoneID: id, call: $0) })
    }
    return view(of: id)
  }

  private struct Choice: Decodable {
    let session: SessionID

    enum CodingKeys: String, CodingKey { case session = "session_id" }
  }
}

/// An Android phone as the control API and the page show it.
struct AndroidView: Encodable {
  struct Card: Encodable {
    let contextKey: ContextKey
    let standing: AndroidPhone.Standing
    let kind: String
    let rev: Int
    let attributes: JSONValue
    let contentState: JSONValue
    let changedAt: UnixTime

    enum CodingKeys: String, CodingKey {
      case standing, kind, rev, attributes
      case contextKey = "context_key"
      case contentState = "content_state"
      case changedAt = "changed_at"
    }
  }

  let id: String
  let userID: UserID
  let name: String
  let online: Bool
  let installed: Bool
  /// How many messages FCM keeps for it.
  let held: Int
  /// Newest first.
  let cards: [Card]
  let received: Int
  let sounds: Int
  let olderIgnored: Int

  enum CodingKeys: String, CodingKey {
    case id, name, online, installed, held, cards, received, sounds
    case userID = "user_id"
    case olderIgnored = "older_ignored"
  }

  init(_ phone: AndroidPhone) {
    id = phone.identity.id
    userID = phone.identity.userID
    name = phone.identity.name
    online = phone.isOnline
    installed = phone.isInstalled
    held = phone.held.count
    received = phone.received
    sounds = phone.sounds
    olderIgnored = phone.olderIgnored
    cards = phone.cards.reversed().map {
      Card(
        contextKey: $0.contextKey, standing: $0.standing, kind: $0.kind, rev: $0.rev,
        attributes: $0.attributes, contentState: $0.contentState, changedAt: $0.changedAt)
    }
  }
}
