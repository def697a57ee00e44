import ActivityContracts
import Cryptography
import Foundation
import HTTPAPI
import HTTPServing
import Pipeline
import Sessions
import Simulator
import TestSupport
import Vocabulary

/// The people, their phones' apps and the kitchen: all that calls the API. Calls are lost, answers
/// are lost; whoever got none calls again, with the same idempotency key.
final class People {
  static let sessions = "/api/cook-suggest/sessions"
  static let kitchen = UserID("kitchen")

  struct Call {
    let user: UserID
    let method: String
    let target: String
    let body: JSONValue
    /// Nil: the call may simply be made again.
    let key: String?
    /// Of the one who calls; its calls are made in order.
    let phone: String?
  }

  let users = [Samples.dennis, Samples.mara]
  /// Paths of the sessions, in the order they came to be.
  private(set) var paths: [String] = []
  private unowned let world: World
  private let chaos: Chaos
  /// Called and not answered yet.
  private var unanswered: [Call] = []
  /// What phones' apps have to tell, each phone's in order.
  private var told: [String: [Call]] = [:]
  /// Sessions whose initiator's app has still to start its card, as they were answered.
  private var toStart: [(session: SessionAnswer, phone: String)] = []
  private var keys = 0
  /// Phones in the middle of a call.
  private var calling: Set<String> = []

  init(in world: World) {
    self.world = world
    chaos = world.chaos
  }

  var isQuiet: Bool {
    unanswered.isEmpty && toStart.isEmpty && told.values.allSatisfy(\.isEmpty)
  }

  func phones(of user: UserID) -> [String] {
    world.airwaves.fleet.phoneIDs.filter {
      let identity = world.airwaves.fleet.phones[$0]?.identity
      return identity?.userID == user
    }
  }

  // MARK: Calling

  /// Nil when no answer came.
  private func ask(_ call: Call) -> HTTPResponse? {
    guard !chaos.strikes(onceIn: 20) else { return nil }
    let response = world.answer(call)
    return chaos.strikes(onceIn: 20) ? nil : response
  }

  /// - Returns: the answer, nil when the call will be made again.
  @discardableResult
  private func make(_ call: Call) -> HTTPResponse? {
    guard let response = ask(call), response.status < 500, !isInProgress(response) else {
      unanswered.append(call)
      return nil
    }
    chaos.note("\(call.user) \(call.target.split(separator: "/").last ?? "") \(response.status)")
    if call.target == Self.sessions, response.status == 201,
      let path = response.header("location"), !paths.contains(path)
    {
      paths.append(path)
      if let phone = phones(of: call.user).first,
        let session = try? JSON.decode(SessionAnswer.self, from: response.data)
      {
        toStart.append((session, phone))
      }
    }
    return response
  }

  private func isInProgress(_ response: HTTPResponse) -> Bool {
    response.status == 409
      && String(decoding: response.data, as: UTF8.self).contains("in-progress")
  }

  func call(
    _ user: UserID, _ target: String, _ body: JSONValue = [:], method: String = "POST"
  ) {
    keys += 1
    make(
      Call(
        user: user, method: method, target: target, body: body, key: "key-\(keys)", phone: nil))
  }

  /// The truth, as this user sees it; nobody disturbs the asking.
  func truth(_ path: String, for user: UserID) throws -> SessionAnswer {
    let response = world.answer(
      Call(user: user, method: "GET", target: path, body: .null, key: nil, phone: nil),
      undisturbed: true)
    guard let response, response.status == 200 else {
      throw StoreError("GET \(path) answered \(response?.status ?? 0)")
    }
    return try JSON.decode(SessionAnswer.self, from: response.data)
  }

  // MARK: What people do

  func introduceThemselves() {
    for user in users {
      _ = world.answer(
        Call(
          user: user.userID, method: "PUT", target: "/api/me",
          body: [
            "name": .string(user.name ?? ""), "locale": .string(user.locale ?? "de-DE"),
          ], key: nil, phone: nil), undisturbed: true)
    }
    for id in world.airwaves.fleet.phoneIDs {
      guard let phone = world.airwaves.fleet.phones[id] else { continue }
      for call in phone.identity.registrations { tell(OwnedEffect(phoneID: id, call: call)) }
    }
    for id in world.others?.ids ?? [] { tell(world.others?.registrations(of: id) ?? [], by: id) }
  }

  func begin() {
    guard let initiator = chaos.pick(among: users),
      let partner = users.first(where: { $0.userID != initiator.userID })
    else { return }
    call(
      initiator.userID, Self.sessions,
      ["date": "2026-06-18", "with_user_id": .string(partner.userID.text)])
  }

  /// Somebody does something in a session, whether it fits or not.
  func act() {
    guard let path = chaos.pick(among: paths), let user = chaos.pick(among: users)?.userID else {
      return
    }
    switch chaos.number(in: 0...25) {
    case 0...8: call(user, "\(path)/ready", ["ready": true])
    case 9: call(user, "\(path)/ready", ["ready": false])
    case 10...12: call(user, "\(path)/join")
    case 13, 14: call(user, "\(path)/answers", ["answers": ["hunger": 3]])
    case 15...18: call(user, "\(path)/pick", ["proposal_id": .string(proposal)])
    case 19...23: call(user, "\(path)/confirm", ["proposal_id": .string(proposal)])
    case 24: call(user, "\(path)/leave")
    default: call(user, "\(path)/cancel")
    }
  }

  private var proposal: String { chaos.strikes(onceIn: 4) ? "p2" : "p1" }

  /// The kitchen answers a job; late, twice, or about another session.
  func cook() {
    guard let path = chaos.pick(among: paths),
      let response = world.answer(
        Call(user: Self.kitchen, method: "GET", target: path, body: .null, key: nil, phone: nil)),
      response.status == 200, let session = try? JSONValue(parsing: response.data),
      let job = session["job"]?["job_id"], let kind = session["job"]?["kind"]
    else { return }
    if kind == "proposals" {
      let dishes: JSONValue = [
        ["id": "p1", "title": "Linsen-Dal"], ["id": "p2", "title": "Pasta"],
      ]
      call(Self.kitchen, "\(path)/proposals", ["job_id": job, "proposals": dishes])
    } else {
      call(Self.kitchen, "\(path)/decision", ["job_id": job, "title": "Linsen-Dal"])
    }
  }

  /// Somebody calls again who got no answer.
  func callAgain() -> Bool {
    guard !unanswered.isEmpty else { return false }
    make(unanswered.remove(at: chaos.number(in: 0...unanswered.count - 1)))
    return true
  }

  // MARK: What phones' apps do

  func tell(_ effect: OwnedEffect) {
    let phone = world.airwaves.fleet.phones[effect.phoneID]
    guard let user = phone?.identity.userID ?? world.others?.owner(of: effect.phoneID) else {
      return
    }
    told[effect.phoneID, default: []].append(
      Call(
        user: user, method: effect.call.method, target: effect.call.path,
        body: effect.call.body, key: nil, phone: effect.phoneID))
  }

  private func hasNetwork(_ id: String) -> Bool {
    guard let others = world.others, others.owner(of: id) != nil else {
      return !world.airwaves.offline.contains(id)
    }
    return others.isOnline(id)
  }

  private func tell(_ calls: [PhoneCall], by id: String) {
    for call in calls { tell(OwnedEffect(phoneID: id, call: call)) }
  }

  /// Something happens to a browser or an Android phone.
  func change(_ others: OtherPhones) {
    guard let id = chaos.pick(among: others.ids) else { return }
    switch chaos.number(in: 0...15) {
    case 0...5: others.goOffline(id)
    case 6...10 where world.cast.contains(.slowWays): others.goOffline(id)
    case 6...10: others.goOnline(id)
    case 11...13: tell(others.registrations(of: id), by: id)
    case 14: tell(others.dismiss(id), by: id)
    default: others.leave(id)
    }
  }

  /// One phone that has a network makes its next call.
  func phoneCalls() -> Bool {
    let ready = (world.airwaves.fleet.phoneIDs + (world.others?.ids ?? [])).filter {
      !(told[$0] ?? []).isEmpty && hasNetwork($0) && !calling.contains($0)
    }
    guard let phone = chaos.pick(among: ready), let call = told[phone]?.first else { return false }
    calling.insert(phone)
    defer { calling.remove(phone) }
    // An answer that is lost makes the call come twice.
    guard let response = ask(call), response.status < 500 else { return true }
    told[phone]?.removeFirst()
    chaos.note("\(phone) \(call.target) \(response.status)")
    return true
  }

  /// The app of one who began a session starts its own card, with the state it was answered.
  func startOwnCard() -> Bool {
    guard !toStart.isEmpty else { return false }
    let (truth, id) = toStart.removeFirst()
    guard let phone = world.airwaves.fleet.phones[id], phone.isInstalled else { return true }
    let now = world.time.now()
    let user = phone.identity.userID
    for effect in world.airwaves.fleet.act(
      on: id, at: now,
      { phone, mint in
        phone.startLocally(
          truth.attributes(for: user), showing: truth.contentState, staleAt: truth.expiresAt,
          at: now, mint: &mint)
      })
    { tell(effect) }
    return true
  }

  /// An app is opened: it registers its tokens again.
  func openApp() {
    guard let id = chaos.pick(among: world.airwaves.fleet.phoneIDs),
      let phone = world.airwaves.fleet.phones[id], phone.isInstalled
    else { return }
    for call in phone.identity.registrations { tell(OwnedEffect(phoneID: id, call: call)) }
  }

  /// iOS does it while the phone is in use.
  func renewTokens(of id: String) {
    guard !world.airwaves.offline.contains(id) else { return }
    chaos.note("\(id) gets new tokens")
    let effects = world.airwaves.fleet.act(on: id, at: world.time.now()) { phone, mint in
      phone.rotateTokens(mint: &mint)
    }
    effects.forEach(tell)
  }

  /// One card; of two of the same session too.
  func dismissCard() {
    guard let id = chaos.pick(among: world.airwaves.fleet.phoneIDs) else { return }
    let now = world.time.now()
    let shown = (world.airwaves.fleet.phones[id]?.cards ?? []).filter(\.standing.isShown)
    chaos.note("\(id) dismisses one of \(shown.count)")
    guard let card = shown.count > 1 ? chaos.pick(among: shown) : shown.first else { return }
    let effects = world.airwaves.fleet.act(on: id, at: now) { phone, _ in
      phone.dismiss(at: now) { $0.activityID == card.activityID }
    }
    effects.forEach(tell)
  }
}
