import Activities
import ActivityContracts
import Foundation
import HTTPClient
import Vocabulary

/// What is done with phones from outside and needs the Lockstep API at once. Each call waits for
/// it, on the caller's thread.
struct PhoneDesk: Sendable {
  /// How long a new phone's first calls may take, each.
  static let timeout = Duration.seconds(5)

  let world: World
  let line: PhoneLine
  let inboxes: InboxLine
  /// What apps there are.
  let contracts: ContractCatalog
  /// Where a phone finds the API that is not told.
  let apiURL: String
  let caFile: String?

  /// Adds a phone and makes its tokens known; what the API did not hear is tried again later.
  func add(_ order: PhoneOrder) throws(SettingsError) -> NewPhone {
    guard !order.token.isEmpty, !order.userID.text.isEmpty else {
      throw SettingsError(["user_id and token: want both, not empty"])
    }
    let type = order.attributesType ?? CookSuggestActivityAttributes.activityType
    guard let app = contracts[type] else {
      let known = contracts.attributesTypes.joined(separator: ", ")
      throw SettingsError(["attributes_type: there is no \(type), want one of \(known)"])
    }
    let identity: PhoneIdentity
    do {
      identity = try world.change { state, _ in
        let identity = try state.fleet.add(
          id: order.id, userID: order.userID, name: order.name ?? order.userID.text,
          environment: order.environment ?? .production,
          budget: order.budget ?? PushBudget(), app: app)
        return (identity, [])
      }
    } catch let error as SettingsError {
      throw error
    } catch {
      throw SettingsError(["\(error)"])
    }
    let account = PhoneLine.Account(trimming: order.apiURL ?? apiURL, bearer: order.token)
    line.connect(identity.id, as: account)
    if order.bell == true { try inboxes.watch(.phone(identity.id), as: account) }
    return NewPhone(
      id: identity.id, deviceID: identity.deviceID, alertToken: identity.alertToken,
      pushToStartToken: identity.pushToStartToken,
      registered: introduce(identity, order, as: account))
  }

  /// - Returns: whether the API heard everything.
  private func introduce(
    _ identity: PhoneIdentity, _ order: PhoneOrder, as account: PhoneLine.Account
  ) -> Bool {
    let client = HTTPClient(timeout: Self.timeout, caFile: caFile)
    var isHeard = true
    let registrations = identity.registrations.filter { call in
      guard let kinds = order.kinds, case .string(let kind)? = call.body["kind"] else {
        return true
      }
      return kinds.contains(kind)
    }
    for call in [order.profile].compactMap({ $0 }) + registrations {
      // While the API is away one attempt is enough to know it.
      let attempt =
        isHeard ? PhoneLine.attempt(call, as: account, with: client) : .unheard("the API is away")
      switch attempt {
      case .heard: break
      case .refused(let detail):
        isHeard = false
        world.complain(detail, of: identity.id)
      case .unheard:
        isHeard = false
        world.change { _, _ in ((), [OwnedEffect(phoneID: identity.id, call: call)]) }
      }
    }
    return isHeard
  }

  /// Lets the phone's app fetch a session and start its own card of it.
  func startLocally(_ session: SessionID, on phoneID: String) throws {
    let client = HTTPClient(timeout: Self.timeout, caFile: caFile)
    let truth = try ask(session, as: phoneID, with: client)
    world.change { state, now in
      let effects = state.fleet.act(on: phoneID, at: now) { phone, mint in
        phone.startLocally(
          truth.attributes(for: phone.identity.userID), showing: truth.contentState,
          staleAt: truth.expiresAt, at: now, mint: &mint)
      }
      return ((), effects)
    }
  }

  /// The same of a session that the API does not know: its app brings the state.
  func startLocally(_ card: OwnCard, on phoneID: String) {
    world.change { state, now in
      let effects = state.fleet.act(on: phoneID, at: now) { phone, mint in
        phone.startLocally(
          card.attributes, showing: card.contentState, staleAt: card.staleAt, at: now,
          mint: &mint)
      }
      return ((), effects)
    }
  }

  var tally: Tally { world.read { Tally(of: $0.fleet, callsWaiting: line.waiting) } }

  func verdict() -> Verdict {
    let client = HTTPClient(timeout: Self.timeout, caFile: caFile)
    let (fleet, browsers, androids) = world.read { ($0.fleet, $0.browsers, $0.androids) }
    return Verdict(
      of: fleet, browsers: browsers, androids: androids, callsWaiting: line.waiting
    ) { session, phoneID in
      try ask(session, as: phoneID, with: client)
    } askOwn: { phoneID in
      try get(OwnActivityAnswer.List.self, "/api/activities", as: phoneID, with: client).activities
    }
  }

  private func ask(_ session: SessionID, as phoneID: String, with client: HTTPClient) throws
    -> SessionAnswer
  {
    let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "_-"))
    guard let name = session.text.addingPercentEncoding(withAllowedCharacters: allowed) else {
      throw DeskError(detail: "the session's id cannot be written in a path")
    }
    return try get(
      SessionAnswer.self, "/api/cook-suggest/sessions/\(name)", as: phoneID, with: client)
  }

  private func get<Answer: Decodable>(
    _ type: Answer.Type, _ path: String, as phoneID: String, with client: HTTPClient
  ) throws -> Answer {
    guard let account = line.account(of: phoneID) else {
      throw DeskError(detail: "the phone \(phoneID) has no account")
    }
    let answer = try client.send(
      "GET", account.apiURL + path, headers: ["authorization": "Bearer \(account.bearer)"])
    guard answer.status == 200 else {
      throw DeskError(
        detail: "the API answered \(answer.status): \(answer.text.prefix(200))")
    }
    return try JSONDecoder().decode(type, from: answer.body)
  }
}

/// The API did not give what a phone needed.
struct DeskError: Error, Hashable, CustomStringConvertible {
  let detail: String

  var description: String { detail }
}
