import Foundation
import Pipeline
import Sessions
import Vocabulary

/// Traffic as on an evening, for the first recording: sessions begin more and more often until the
/// peak and less often after it, take minutes, and their people dither. The same seed gives the
/// same evening. Every event is the change that ``Sessions/Session`` itself made.
package struct Evening: Sequence, IteratorProtocol {
  package struct Plan: Hashable, Sendable {
    package var seed: UInt64 = 1
    package var span: Duration = .seconds(1800)
    /// Sessions that begin in one minute at the peak; a fifth of it at the ends.
    package var sessionsPerMinute = 60.0
    /// How many people there are; pairs are drawn among them.
    package var people = 2000
    package var begin: UnixTime

    package init(begin: UnixTime) { self.begin = begin }
  }

  private let plan: Plan
  private var draws: Draws
  private var number = 0
  /// When the next session begins, from the evening's begin.
  private var nextBegin: Duration
  /// Those of the sessions under way, the next one last.
  private var waiting: [(event: OutboxEvent, order: Int)] = []
  private var order = 0

  package init(_ plan: Plan) {
    precondition(plan.people >= 2 && plan.sessionsPerMinute > 0, "nobody would come")
    self.plan = plan
    draws = Draws(seed: plan.seed)
    nextBegin = .zero
    nextBegin = gap(after: .zero)
  }

  /// The next event; nil when the evening is over. What its sessions would have done later is cut,
  /// as a recording that ends would.
  package mutating func next() -> OutboxEvent? {
    let end = plan.begin + plan.span
    while nextBegin < plan.span {
      if let soonest = waiting.last, soonest.event.storedAt < plan.begin + nextBegin { break }
      begin()
    }
    guard let (event, _) = waiting.popLast(), event.storedAt < end else { return nil }
    return event
  }

  /// A session's whole life is drawn when it begins.
  private mutating func begin() {
    number += 1
    var planning = Planning(
      number: number, at: plan.begin + nextBegin, people: plan.people, draws: draws)
    planning.play()
    draws = planning.draws
    for event in planning.events {
      order += 1
      waiting.append((event, order))
    }
    // Latest first, so that the next one is taken from the end.
    waiting.sort { ($0.event.storedAt, $0.order) > ($1.event.storedAt, $1.order) }
    nextBegin += gap(after: nextBegin)
  }

  private mutating func gap(after moment: Duration) -> Duration {
    let perSecond = plan.sessionsPerMinute / 60 * Self.share(moment / plan.span)
    let draw = Double.random(in: Double.leastNonzeroMagnitude..<1, using: &draws)
    return .seconds(Swift.min(-log(draw) / perSecond, 60))
  }

  /// Of the peak, at a place from 0 to 1 of the evening: the peak is at three fifths.
  static func share(_ place: Double) -> Double {
    let distance = (place - 0.6) / 0.22
    return 0.2 + 0.8 * exp(-distance * distance)
  }
}
