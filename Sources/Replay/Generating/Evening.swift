import Foundation
import Pipeline
import Sessions
import Vocabulary

/// Traffic as on an evening, for the first recording: sessions begin more and more often until the
/// peak and less often after it, take minutes, and their people dither. The same seed gives the
/// same evening. Every event is the change that ``Sessions/Session`` itself made.
///
/// Deliveries and shopping lists can be among them. They are drawn apart, so that with them the
/// sessions of a seed stay the same.
package struct Evening: Sequence, IteratorProtocol {
  package struct Plan: Hashable, Sendable {
    package var seed: UInt64 = 1
    package var span: Duration = .seconds(1800)
    /// Sessions that begin in one minute at the peak; a fifth of it at the ends.
    package var sessionsPerMinute = 60.0
    /// Activities that begin in one minute at the peak, by turns a delivery and a shopping list.
    package var activitiesPerMinute = 0.0
    /// How many people there are; pairs are drawn among them.
    package var people = 2000
    package var begin: UnixTime

    package init(begin: UnixTime) { self.begin = begin }
  }

  /// What begins again and again, with draws of its own.
  private struct Kind {
    let perMinute: Double
    var draws: Draws
    var number = 0
    /// When the next one begins, from the evening's begin.
    var nextBegin: Duration = .zero
  }

  private let plan: Plan
  private var sessions: Kind
  private var activities: Kind
  /// Those of the sessions and activities under way, the next one last.
  private var waiting: [(event: OutboxEvent, order: Int)] = []
  private var order = 0

  package init(_ plan: Plan) {
    precondition(plan.people >= 2 && plan.sessionsPerMinute > 0, "nobody would come")
    self.plan = plan
    sessions = Kind(perMinute: plan.sessionsPerMinute, draws: Draws(seed: plan.seed))
    activities = Kind(
      perMinute: plan.activitiesPerMinute, draws: Draws(seed: plan.seed ^ Self.activitySeed))
    Self.wait(&sessions, of: plan)
    Self.wait(&activities, of: plan)
  }

  private static let activitySeed: UInt64 = 0x5EED_AC71_7171_E500

  /// The next event; nil when the evening is over. What its sessions would have done later is cut,
  /// as a recording that ends would.
  package mutating func next() -> OutboxEvent? {
    let end = plan.begin + plan.span
    while true {
      let nextBegin = Swift.min(sessions.nextBegin, activities.nextBegin)
      guard nextBegin < plan.span else { break }
      if let soonest = waiting.last, soonest.event.storedAt < plan.begin + nextBegin { break }
      if sessions.nextBegin <= activities.nextBegin { beginSession() } else { beginActivity() }
    }
    guard let (event, _) = waiting.popLast(), event.storedAt < end else { return nil }
    return event
  }

  /// A session's whole life is drawn when it begins, and an activity's.
  private mutating func beginSession() {
    sessions.number += 1
    var planning = Planning(
      number: sessions.number, at: plan.begin + sessions.nextBegin, people: plan.people,
      draws: sessions.draws)
    planning.play()
    sessions.draws = planning.draws
    queue(planning.events)
    Self.wait(&sessions, of: plan)
  }

  private mutating func beginActivity() {
    activities.number += 1
    var errand = Errand(
      number: activities.number, at: plan.begin + activities.nextBegin, people: plan.people,
      draws: activities.draws)
    errand.play()
    activities.draws = errand.draws
    queue(errand.events)
    Self.wait(&activities, of: plan)
  }

  private mutating func queue(_ events: [OutboxEvent]) {
    for event in events {
      order += 1
      waiting.append((event, order))
    }
    // Latest first, so that the next one is taken from the end.
    waiting.sort { ($0.event.storedAt, $0.order) > ($1.event.storedAt, $1.order) }
  }

  /// Draws when the next one of a kind begins; never, where none is wanted.
  private static func wait(_ kind: inout Kind, of plan: Plan) {
    guard kind.perMinute > 0 else {
      kind.nextBegin = plan.span
      return
    }
    let perSecond = kind.perMinute / 60 * share(kind.nextBegin / plan.span)
    let draw = Double.random(in: Double.leastNonzeroMagnitude..<1, using: &kind.draws)
    // The longest wait keeps the ends of a sparse evening from being empty.
    kind.nextBegin += .seconds(Swift.min(-log(draw) / perSecond, 60))
  }

  /// Of the peak, at a place from 0 to 1 of the evening: the peak is at three fifths.
  static func share(_ place: Double) -> Double {
    let distance = (place - 0.6) / 0.22
    return 0.2 + 0.8 * exp(-distance * distance)
  }
}
