import Activities
import Foundation
import Pushes
import ServiceRuntime
import Sessions
import Vocabulary

/// Stage `build`: event → one content state per participant → one job per token.
///
/// The newest state of each activity is kept by rev, so events may come late, twice, or to several
/// builders at once: an older one changes nothing, the same one makes the same jobs again (its
/// first builder may have died between storing and publishing).
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
        var book = BuildBook(now: now)
        let settled = try events.map {
          try settle($0.delivery, $0.event, &book, in: transaction, now: now)
        }
        try transaction.save(book.records)
        return settled
      }
  }

  private func settle(
    _ delivery: Delivery, _ event: Event, _ book: inout BuildBook,
    in transaction: any StoreTransaction, now: UnixTime
  ) throws -> Settlement {
    if let deadline = event.deadline, deadline <= now {
      book.expired(event)
      return Settlement(delivery, .expired)
    }
    let due: [Due]
    let fcmJobs: [FCMJobs.Due]
    let android = fcm.map { _ in FCMJobs(transaction: transaction) }
    switch event.subject {
    case .session, .activity:
      let states: [ActivityState]
      do {
        states = try self.states(after: event, in: transaction)
      } catch let error as ContractBroken {
        return Settlement(delivery, .dead(because: "\(error)"))
      }
      let newest = try keepNewer(states, &book, in: transaction)
      guard !newest.isEmpty || states.isEmpty else {
        book.close()
        return Settlement(delivery, .stale)
      }
      due = try pushesDue(for: newest, &book, in: transaction, now: now)
      fcmJobs = try android?.jobs(for: newest) ?? []
    case .token(let registered):
      due = try pushesDue(to: registered, &book, in: transaction, now: now)
      fcmJobs = try android?.jobs(after: registered, now: now) ?? []
    }
    return settlement(delivery, due, &book, fcmJobs)
  }

  /// What each card should show. From here on nobody asks which contract a state has.
  ///
  /// - Throws: ``ContractBroken``, and ``StoreError``.
  private func states(after event: Event, in transaction: any StoreTransaction) throws
    -> [ActivityState]
  {
    switch event.subject {
    case .session(let session, _):
      ParticipantStates.states(
        of: session, profiles: try transaction.profiles(of: session.participants.map(\.userID)),
        causedAt: event.time, deadline: event.deadline, traceparent: event.traceparent)
    case .activity(let activity, _):
      try RecipientStates.states(
        of: activity, by: contracts, causedAt: event.time, deadline: event.deadline,
        traceparent: event.traceparent)
    case .token: []
    }
  }

  private func settlement(
    _ delivery: Delivery, _ due: [Due], _ book: inout BuildBook, _ fcmJobs: [FCMJobs.Due]
  ) -> Settlement {
    for due in due {
      switch due {
      case .state(let state, _): book.note(state) { $0.updateJobs += 1 }
      case .start(let state, _): book.note(state) { $0.startJobs += 1 }
      }
    }
    for due in fcmJobs { book.note(due.state) { $0.fcmJobs += 1 } }
    defer { book.close() }
    do {
      let jobs = try due.compactMap { due in
        switch due {
        case .state(let state, let registration): try state.job(to: registration)
        case .start(let state, let registration): try state.startJob(to: registration)
        }
      }
      var outgoing = jobs.map { pushes.carrying($0.message) }
      if let fcm { outgoing += fcmJobs.map { fcm.carrying($0.job.message) } }
      return Settlement(delivery, .done, outgoing: outgoing)
    } catch {
      // Contract or size: no repetition makes it fit.
      book.dead(because: "\(error)")
      return Settlement(delivery, .dead(because: "\(error)"))
    }
  }

  // MARK: Which pushes are due

  private enum Due {
    case state(ActivityState, Registration)
    case start(ActivityState, Registration)
  }

  /// Stores those states that are newer than what is known.
  ///
  /// - Returns: those that are the newest now, the just stored and the repeated ones.
  private func keepNewer(
    _ states: [ActivityState], _ book: inout BuildBook, in transaction: any StoreTransaction
  ) throws -> [ActivityState] {
    let known = try transaction.activityStates(states.map(\.contextKey))
    var newer: [ActivityState] = []
    var newest: [ActivityState] = []
    for state in states {
      book.open(state, knowing: known[state.contextKey])
      guard let before = known[state.contextKey] else {
        newer.append(state)
        newest.append(state)
        continue
      }
      // After an end nothing follows: a leaver's card stays ended while the others go on.
      if before.rev < state.rev, before.event != .end {
        newer.append(state)
        newest.append(state)
      } else if before.rev == state.rev {
        newest.append(before)
      }
    }
    try transaction.save(newer)
    return newest
  }

  private func pushesDue(
    for states: [ActivityState], _ book: inout BuildBook, in transaction: any StoreTransaction,
    now: UnixTime
  ) throws -> [Due] {
    let tokens = try transaction.updateTokens(of: states.map(\.contextKey))
    var due: [Due] = []
    for state in states {
      let registered = tokens[state.contextKey] ?? []
      due += try state.addressees(registered, in: transaction, now: now).map { .state(state, $0) }
    }
    return due + (try startsDue(for: states, &book, in: transaction, now: now))
  }

  /// Every card that is to be started by push and was not accepted yet: the first event asks, and
  /// each later one asks again until APNs has accepted one.
  private func startsDue(
    for states: [ActivityState], _ book: inout BuildBook, in transaction: any StoreTransaction,
    now: UnixTime
  ) throws -> [Due] {
    let startable = states.filter { $0.attributes != nil && $0.event != .end }
    guard !startable.isEmpty else { return [] }
    let dismissed = try transaction.dismissed(among: startable.map(\.contextKey))
    let tokens = try transaction.tokens(of: startable.map(\.userID), kind: .pushToStart)
    let known = try transaction.starts(of: Array(Set(startable.map(\.sessionID))))
    let accepted = Set(
      known.filter { $0.acceptedAt != nil }.map { StartKey(session: $0.sessionID, token: $0.token) }
    )
    var due: [Due] = []
    for state in startable {
      guard !dismissed.contains(state.contextKey) else {
        book.note(state) { $0.reason = "the phone dismissed this card" }
        continue
      }
      let fitting = (tokens[state.userID] ?? []).filter(state.fits)
      if fitting.isEmpty {
        book.note(state) { $0.reason = "no token registered: the card cannot be started" }
      }
      for registration in fitting {
        let key = StartKey(session: state.sessionID, token: registration.token)
        guard !accepted.contains(key) else {
          book.note(state) {
            $0.reason =
              state.extras?.channel == nil
              ? "started already; no update token registered yet"
              : "started already; the card listens to the channel"
          }
          continue
        }
        try transaction.save(
          Start(
            sessionID: state.sessionID, token: registration.token, contextKey: state.contextKey,
            firstAskedAt: now, userID: state.userID, deviceID: registration.deviceID))
        due.append(.start(state, registration))
      }
    }
    return due
  }

  private struct StartKey: Hashable {
    let session: SessionID
    let token: PushToken
  }

  /// A token that registered late: an update token gets its activity's newest state or its end, a
  /// push-to-start token the starts that waited for it.
  private func pushesDue(
    to registered: TokenRegistered, _ book: inout BuildBook,
    in transaction: any StoreTransaction, now: UnixTime
  ) throws -> [Due] {
    switch TokenKind(name: registered.kind) {
    case .update:
      guard let context = registered.contextKey,
        let state = try transaction.activityStates([context])[context]
      else { return [] }
      let tokens = try transaction.updateTokens(of: [context])[context] ?? []
      return tokens.filter { $0.token.fingerprint == registered.tokenFingerprint }
        .map { .state(state, $0) }
    case .pushToStart:
      let states = try transaction.liveActivityStates(of: registered.userID)
      return try startsDue(
        for: states.filter { $0.deadline > now }, &book, in: transaction, now: now)
    case .alert, nil:
      return []
    }
  }
}

extension ActivityState {
  /// A push-to-start token may be registered for one attributes type only.
  fileprivate func fits(_ registration: Registration) -> Bool {
    registration.attributesType == nil || registration.attributesType == attributesType
  }
}
