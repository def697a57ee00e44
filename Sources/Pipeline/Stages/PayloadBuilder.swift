import Activities
import Pushes
import ServiceRuntime
import Sessions
import Vocabulary

/// Stage `build`: event → one content state per participant → one job per token.
///
/// The newest state of each activity is kept by rev, so events may come late, twice, or to several
/// builders at once: an older one changes nothing, the same one makes the same jobs again (its
/// first builder may have died between storing and publishing).
///
/// A batch is one transaction: what its events may touch is read at once
/// (``BuildKnowledge``), then decided event by event (``BuildDecision``), then written at once.
package final class PayloadBuilder: Stage {
  package let name = StageName.build
  package let isRepeatable = true

  private let store: any Store
  private let pushes: StageRoute
  private let fcm: StageRoute?
  private let contracts: ContractCatalog
  private let time: any TimeSource

  /// `pushes`: where jobs for the sender go. `fcm`: where those for Android phones go; nil makes
  /// none. `contracts`: what apps can decode.
  package init(
    store: any Store, pushes: StageRoute, fcm: StageRoute? = nil,
    contracts: ContractCatalog = .builtIn, time: any TimeSource
  ) {
    self.store = store
    self.pushes = pushes
    self.fcm = fcm
    self.contracts = contracts
    self.time = time
  }

  package func take(_ deliveries: [Delivery]) throws -> [Settlement] {
    var settlements: [Settlement] = []
    var events: [(delivery: Delivery, event: Event)] = []
    for delivery in deliveries {
      do {
        events.append((delivery, try Event(reading: delivery.message)))
      } catch {
        settlements.append(Settlement(delivery, .dead(because: "\(error)")))
      }
    }
    guard !events.isEmpty else { return settlements }
    let now = time.now()
    return try settlements
      + store.write { transaction in
        let profiles = try transaction.profiles(of: events.map(\.event).participants)
        let batch = events.map {
          BuildEvent($0.delivery, $0.event, by: contracts, profiles: profiles, now: now)
        }
        let knowledge = try BuildKnowledge(
          of: batch.flatMap(\.states), and: batch.compactMap { $0.event.registered },
          withAndroid: fcm != nil, in: transaction)
        var decision = BuildDecision(knowledge, pushes: pushes, fcm: fcm, now: now)
        let settled = try batch.map { try decision.settle($0) }
        try decision.knowledge.write(in: transaction)
        try transaction.save(decision.book.records)
        return settled
      }
  }
}

/// An event of a batch and the states that it brings. Pure.
struct BuildEvent {
  let delivery: Delivery
  let event: Event
  /// What each card should show. From here on nobody asks which contract a state has.
  ///
  /// Of an expired event only the ends are left: whoever left at that mutation has a card that
  /// would stay for hours, and no later event tells of it again.
  let states: [ActivityState]
  let isExpired: Bool
  /// Why no phone would show them; nil when all is well.
  let broken: ContractBroken?

  init(
    _ delivery: Delivery, _ event: Event, by contracts: ContractCatalog,
    profiles: [UserID: Profile], now: UnixTime
  ) {
    self.delivery = delivery
    self.event = event
    isExpired = event.isExpired(at: now)
    do throws(ContractBroken) {
      let made = try event.states(by: contracts, profiles: profiles)
      states = isExpired ? made.filter { $0.deadline > now } : made
      broken = nil
    } catch {
      (states, broken) = ([], isExpired ? nil : error)
    }
  }
}

extension Event {
  /// What it causes has become pointless, but for the ends of cards.
  fileprivate func isExpired(at now: UnixTime) -> Bool { deadline.map { $0 <= now } ?? false }

  fileprivate func states(by contracts: ContractCatalog, profiles: [UserID: Profile])
    throws(ContractBroken) -> [ActivityState]
  {
    switch subject {
    case .session(let session, _):
      ParticipantStates.states(
        of: session, profiles: profiles, causedAt: time, deadline: deadline,
        traceparent: traceparent)
    case .activity(let activity, _):
      try RecipientStates.states(
        of: activity, by: contracts, causedAt: time, deadline: deadline, traceparent: traceparent)
    case .token: []
    }
  }

  /// The token that it tells of; nil when it tells of something else.
  var registered: TokenRegistered? {
    if case .token(let registered) = subject { registered } else { nil }
  }
}

extension [Event] {
  /// Who takes part in sessions whose states are made, each once.
  fileprivate var participants: [UserID] {
    var users: Set<UserID> = []
    for event in self {
      guard case .session(let session, _) = event.subject, !session.isSolo else { continue }
      users.formUnion(session.participants.map(\.userID))
    }
    return [UserID](users)
  }
}
