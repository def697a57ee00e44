import Activities
import Foundation
import Pipeline
import Sessions
import TestSupport
import Vocabulary

@testable import Replay

/// Activities as programs drive them, and their events.
struct ActivityStory {
  static let shopping = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../deploy/contracts/shopping.json")

  /// With the declared contract that the generator writes for.
  static func contracts() throws -> ContractCatalog {
    try ContractCatalog(declared: [
      DeclaredContract(reading: JSONValue(parsing: Data(contentsOf: shopping)))
    ])
  }

  private(set) var activity: Activity
  private(set) var events: [OutboxEvent] = []

  /// A delivery that both wait for.
  init(of users: [UserID] = [Samples.mara.userID, Samples.dennis.userID]) {
    let change = Activity.start(
      ActivityKey("order-7"), attributesType: "ShinyActivityAttributes",
      attributes: ["kind": "delivery", "values": ["order": "order-7", "for": "Mara Berg"]],
      ActivityContent(
        states: users.map { ($0, Self.state("Wird gebacken", 0.25)) },
        alert: .init(title: "Pizzeria Roma", body: "Für Mara"), deepLink: "app://orders/order-7"),
      at: Samples.noon)
    activity = change.activity
    tell(change)
  }

  static func state(_ title: String, _ progress: Double, at moment: UnixTime = Samples.noon)
    -> JSONValue
  {
    let begin = moment.seconds - DateForm.appleEpoch
    return [
      "title": .string(title), "progress": .number(progress), "data": ["an": "Mara Berg"],
      "progressStart": .integer(begin), "progressEnd": .integer(begin + 600),
    ]
  }

  mutating func update(_ title: String, _ users: [UserID]? = nil) throws {
    let users = users ?? activity.recipients.map(\.userID)
    let content = ActivityContent(states: users.map { ($0, Self.state(title, 0.5)) })
    guard let change = try activity.updated(with: content, at: next) else { return }
    tell(change)
  }

  mutating func end() {
    guard let change = activity.ended(.ended, at: next) else { return }
    tell(change)
  }

  private var next: UnixTime { activity.updatedAt + .seconds(1) }

  private mutating func tell(_ change: ActivityChange) {
    activity = change.activity
    events.append(
      Event.outboxEntry(
        for: change, by: UserID("roma-backend"), id: EventID("ev_\(activity.rev)"),
        at: activity.updatedAt, traceparent: nil))
  }

  /// As a recording holds it.
  static func recorded(_ event: OutboxEvent, standIns: StandIns? = nil) throws -> RecordedEvent {
    let form = RecordedForm(
      event.message, standIns: standIns, contracts: try contracts(), receivedAt: event.storedAt)
    guard case .event(let line, _, _) = form,
      case .event(let recorded) = try RecordedLine(reading: line)
    else { throw BrokenLine("\(form)") }
    return recorded
  }
}
