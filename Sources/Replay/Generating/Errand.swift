import Activities
import Cryptography
import Foundation
import Pipeline
import Vocabulary

/// How one activity of an evening goes, from its start to its end: a delivery that one person waits
/// for, in Shiny's contract, or a shopping list that two share, in the declared one of
/// `deploy/contracts/shopping.json`.
struct Errand {
  static let shoppingType = "ShoppingActivityAttributes"
  private static let restaurants = [
    "Trattoria Sole", "Curry 36", "Sushi Kai", "Falafel Salam", "Zum Anker", "Pho Hanoi",
  ]
  private static let goods = [
    ("Linsen", "500 g"), ("Spinat", "1"), ("Joghurt", "2"), ("Brot", "1"), ("Hafermilch", "3"),
    ("Zwiebeln", "1 kg"), ("Kaffee", "250 g"), ("Äpfel", "6"), ("Feta", "1"), ("Reis", "1 kg"),
  ]
  private static let names = ["Mara", "Tim", "Aylin", "Jonas", "Lena", "Emre", "Sophie", "Paul"]
  private static let lifeMax: Duration = .seconds(4 * 3600)

  private(set) var draws: Draws
  private(set) var events: [OutboxEvent] = []
  private let number: Int
  private let people: Int
  private var now: UnixTime

  /// `number`: counts the evening's activities, from 1.
  init(number: Int, at moment: UnixTime, people: Int, draws: Draws) {
    self.number = number
    self.people = people
    self.draws = draws
    now = moment
  }

  mutating func play() {
    if number.isMultiple(of: 2) { shop() } else { deliver() }
  }

  /// A Shiny app cannot say which of two cards a token is of, so each time somebody else orders.
  private var customer: UserID { UserID("u_\((number / 2) % people)") }

  private mutating func deliver() {
    let restaurant = draws.one(of: Self.restaurants)
    let order = "\(Int.random(in: 1000...9999, using: &draws))"
    let minutes = Int.random(in: 15...45, using: &draws)
    let due = now + .seconds(Int64(minutes * 60))
    func state(_ title: String, _ status: String, _ progress: Double) -> JSONValue {
      var members: [String: JSONValue] = [
        "title": .string(title), "body": .string(restaurant), "shortStatus": .string(status),
        "progress": progress == progress.rounded() ? .integer(Int64(progress)) : .number(progress),
        "data": ["order": .string(order), "restaurant": .string(restaurant)],
      ]
      if progress > 0, progress < 1 {
        members["progressStart"] = Self.apple(due - .seconds(Int64(minutes * 60)))
        members["progressEnd"] = Self.apple(due)
      }
      return .object(members)
    }
    var delivery = start(
      "delivery_\(number)", ShinyContract().attributesType,
      ["kind": "delivery", "values": ["order": .string(order)]],
      [(customer, state("Bestellung angenommen", "angenommen", 0))], alert: restaurant)
    let steps = [
      ("Wird zubereitet", "Küche", 0.25), ("Bereit zur Abholung", "bereit", 0.5),
      ("Unterwegs", "unterwegs", 0.75), ("Gleich da", "1 min", 0.95),
    ]
    for (title, status, progress) in steps {
      wait(20, 240)
      update(&delivery, [(customer, state(title, status, progress))])
    }
    wait(20, 120)
    end(&delivery, [customer: state("Guten Appetit", "da", 1)])
  }

  private mutating func shop() {
    let first = Int.random(in: 0..<people, using: &draws)
    let second = (first + Int.random(in: 1..<people, using: &draws)) % people
    let two = [first, second].map { (user: UserID("u_\($0)"), name: Self.names[$0 % 8]) }
    let begin = Int.random(in: 0..<Self.goods.count, using: &draws)
    let total = Int.random(in: 4...8, using: &draws)
    func state(_ done: Int, rev: Int, by: String?, at moment: UnixTime) -> JSONValue {
      let next = (done..<min(done + 3, total)).map { place -> JSONValue in
        let (name, amount) = Self.goods[(begin + place) % Self.goods.count]
        return ["name": .string(name), "amount": .string(amount)]
      }
      var members: [String: JSONValue] = [
        "headline": .string(done == total ? "Alles im Wagen" : "Noch \(total - done)"),
        "done": .integer(Int64(done)), "total": .integer(Int64(total)), "next": .array(next),
        "changedAt": Self.apple(moment), "rev": .integer(Int64(rev)),
      ]
      if let by { members["lastBy"] = .string(by) }
      return .object(members)
    }
    func both(_ state: JSONValue) -> [(user: UserID, state: JSONValue)] {
      two.map { ($0.user, state) }
    }
    let key = "shopping_\(number)"
    var list = start(
      key, Self.shoppingType,
      ["listKey": .string(key), "listName": "Wochenende", "tint": .string("moss")],
      both(state(0, rev: 1, by: nil, at: now)), alert: "Wochenende")
    for done in 1...total {
      wait(5, 60)
      let who = draws.one(of: two).name
      update(&list, both(state(done, rev: list.rev + 1, by: who, at: now)))
    }
    wait(10, 120)
    end(&list, [:])
  }

  /// As the contract writes a date: seconds since 2001.
  private static func apple(_ moment: UnixTime) -> JSONValue {
    .integer(moment.seconds - DateForm.appleEpoch)
  }

  // MARK: Telling

  private mutating func wait(_ least: Double, _ most: Double) {
    now = now + draws.span(least, most)
  }

  private mutating func start(
    _ key: String, _ type: String, _ attributes: JSONValue,
    _ states: [(user: UserID, state: JSONValue)], alert: String
  ) -> Activity {
    let content = ActivityContent(
      states: states, alert: Activity.Alert(title: alert, body: "Es geht los"),
      expiresAt: now + Self.lifeMax)
    let change = Activity.start(
      ActivityKey(key), attributesType: type, attributes: attributes, content, at: now)
    tell(change)
    return change.activity
  }

  private mutating func update(
    _ activity: inout Activity, _ states: [(user: UserID, state: JSONValue)]
  ) {
    do {
      let change = try activity.updated(with: ActivityContent(states: states), at: now)
      guard let change else { return }
      activity = change.activity
      tell(change)
    } catch {
      preconditionFailure("it is live and names its own: \(error)")
    }
  }

  private mutating func end(_ activity: inout Activity, _ states: [UserID: JSONValue]) {
    guard let change = activity.ended(.ended, states: states, at: now) else { return }
    activity = change.activity
    tell(change)
  }

  private mutating func tell(_ change: ActivityChange) {
    let activity = change.activity
    let id = EventID(UUIDText.named(["evening", activity.key.text, "\(activity.rev)"]))
    events.append(
      Event.outboxEntry(
        for: change, by: UserID("generator"), id: id, at: now, traceparent: nil))
  }
}
