import Activities
import Foundation
import Pipeline
import Pushes
import Simulator
import TestSupport
import Vocabulary

/// A program that drives activities: it starts some, changes them, says things twice, forgets them.
/// Their cards are on the two phones of one customer, whose app is built with Shiny.
final class Shop {
  static let service = UserID("shop")
  static let customer = UserID("u_sina")
  /// How long its activities go on at most.
  static let lifeMax: Duration = .seconds(3 * 3600)
  private static let activitiesMax = 3

  private unowned let world: World
  private let people: People
  private var begun = 0
  private var words = 0
  /// Tokens that were bound, or could not be.
  private var bound: Set<PushToken> = []

  init(in world: World, _ people: People) {
    self.world = world
    self.people = people
  }

  private func path(_ number: Int) -> String { "/api/activities/order-\(number)" }

  private func state(_ number: Int) -> JSONValue {
    words += 1
    return ["title": .string("Order \(number)"), "data": ["step": .string("\(words)")]]
  }

  /// It does something, whether it fits or not.
  func act() {
    if begun < Self.activitiesMax, world.chaos.strikes(onceIn: 3) || begun == 0 {
      begun += 1
      return start(begun)
    }
    let number = world.chaos.number(in: 1...begun)
    switch world.chaos.number(in: 0...9) {
    case 0: start(number)
    case 1: people.call(Self.service, path(number), method: "DELETE")
    default:
      people.call(
        Self.service, path(number), ["content_state": state(number)], method: "PATCH")
    }
  }

  private func start(_ number: Int) {
    let expiresAt = world.time.now() + .seconds(world.chaos.number(in: 600...7200))
    people.call(
      Self.service, path(number),
      [
        "attributes_type": "ShinyActivityAttributes",
        "attributes": ["kind": "order", "values": ["number": .string("\(number)")]],
        "recipients": [["user_id": .string(Self.customer.text)]],
        "content_state": state(number), "expires_at": .string(expiresAt.rfc3339),
      ], method: "PUT")
  }

  // MARK: Tokens that nobody could bind

  /// The customer looks at the phone and says which card it is.
  func bindUnbound() -> Bool {
    let query = TokenQuery(user: Self.customer, isPruned: false, isUnbound: true)
    let unbound = (try? world.look { try $0.tokenRows(query) }) ?? []
    guard
      let token = unbound.map(\.registration.token).first(where: { !bound.contains($0) })
    else { return false }
    bound.insert(token)
    guard
      let card = world.airwaves.fleet.phones.values.flatMap(\.cards).first(where: {
        $0.updateToken == token.hex
      }), let key = Self.key(of: card)
    else { return true }
    _ = world.answer(
      People.Call(
        user: Self.service, method: "POST", target: "/api/apns/bind",
        body: [
          "user_id": .string(Self.customer.text), "activity_id": .string(card.activityID),
          "context_key": .string(Activity.contextKey(of: key, user: Self.customer).text),
        ], key: nil, phone: nil), undisturbed: true)
    return true
  }

  private static func key(of card: LockScreenCard) -> ActivityKey? {
    guard case .string(let number)? = card.attributes["values"]?["number"] else { return nil }
    return ActivityKey("order-\(number)")
  }

  // MARK: What must be true

  func problems(isOver: Bool) throws -> [String] {
    var found: [String] = []
    for number in 1...max(1, begun) {
      let key = ActivityKey("order-\(number)")
      guard let activity = try world.look({ try $0.activity(key) }) else { continue }
      if isOver, activity.state == .live { found.append("an activity outlives its time") }
      let phones = people.phones(of: Self.customer)
      if !isOver, world.hasGivenUp(activity.sessionID) { continue }
      let androids = world.others?.androids(of: Self.customer) ?? []
      let isUnwanted =
        phones.contains { phone in
          cards(of: key, on: phone).contains { $0.standing == .dismissed }
        }
        || androids.contains { phone in
          phone.cards.contains { $0.contextKey == context(key) && $0.standing == .dismissed }
        }
      for phone in androids where phone.isInstalled {
        found += check(phone, activity, isUnwanted: isUnwanted)
      }
      for phone in phones { found += check(phone, activity, isUnwanted: isUnwanted) }
    }
    return found
  }

  private func context(_ key: ActivityKey) -> ContextKey {
    Activity.contextKey(of: key, user: Self.customer)
  }

  private func check(_ phone: AndroidPhone, _ activity: Activity, isUnwanted: Bool) -> [String] {
    let id = phone.identity.id
    guard let card = phone.cards.last(where: { $0.contextKey == context(activity.key) }) else {
      let isDue = activity.state == .live && !isUnwanted
      return isDue ? ["\(id) has no card of \(activity.key), which is live"] : []
    }
    guard card.standing != .dismissed else { return [] }
    var found: [String] = []
    if (card.standing == .live) != (activity.state == .live) {
      found.append("\(id): the card of \(activity.key) is \(card.standing), \(activity.state)")
    }
    if card.contentState != activity.recipients.first?.contentState {
      found.append(
        "\(id): the card of \(activity.key) shows rev \(card.rev), the truth is \(activity.rev)")
    }
    return found
  }

  private func cards(of key: ActivityKey, on phone: String) -> [LockScreenCard] {
    (world.airwaves.fleet.phones[phone]?.cards ?? []).filter { Self.key(of: $0) == key }
  }

  private func check(_ phone: String, _ activity: Activity, isUnwanted: Bool) -> [String] {
    let cards = cards(of: activity.key, on: phone)
    let missedIt = (world.airwaves.expired[phone] ?? []).contains { $0.use == .pushToStart }
    if cards.isEmpty, activity.state == .live, !isUnwanted, !missedIt {
      return ["\(phone) has no card of \(activity.key), which is live"]
    }
    var found: [String] = []
    // A start whose answer was lost may have made two: each shows the truth.
    for card in cards where card.standing != .dismissed && !world.isOutOfReach(card, on: phone) {
      if card.standing.isLive != (activity.state == .live) {
        found.append(
          "\(phone): the card of \(activity.key) is \(card.standing), \(activity.state)")
      }
      if card.contentState != activity.recipients.first?.contentState {
        found.append(
          "\(phone): the card of \(activity.key) shows \(card.contentState), rev \(activity.rev)")
      }
    }
    return found
  }
}
