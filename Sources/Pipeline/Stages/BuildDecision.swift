import Pushes
import Vocabulary

/// Decides about a batch of events, one after the other: which states are the newest, and which
/// pushes are due because of them. Pure: what it knows was read before, and what it decided is
/// written after.
struct BuildDecision {
  private(set) var knowledge: BuildKnowledge
  private(set) var book: BuildBook
  private let pushes: StageRoute
  private let fcm: StageRoute?
  private let now: UnixTime

  /// `pushes`: where jobs for the sender go. `fcm`: where those for Android phones go; nil makes
  /// none.
  init(_ knowledge: BuildKnowledge, pushes: StageRoute, fcm: StageRoute?, now: UnixTime) {
    self.knowledge = knowledge
    self.pushes = pushes
    self.fcm = fcm
    self.now = now
    book = BuildBook(now: now)
  }

  /// What is done about one event.
  ///
  /// - Throws: `PushTokenError` when a channel's id spells no address.
  mutating func settle(_ given: BuildEvent) throws -> Settlement {
    let (delivery, states) = (given.delivery, given.states)
    if given.isExpired {
      book.expired(given.event, butFor: states)
      guard !states.isEmpty else { return Settlement(delivery, .expired) }
    }
    if let broken = given.broken { return Settlement(delivery, .dead(because: "\(broken)")) }
    if case .token(let registered) = given.event.subject {
      return settlement(delivery, pushesDue(to: registered), androidDue(after: registered))
    }
    let newest = keepNewer(states)
    guard !newest.isEmpty || states.isEmpty else {
      book.close()
      return Settlement(delivery, given.isExpired ? .expired : .stale)
    }
    return settlement(
      delivery, try pushesDue(for: newest), knowledge.android?.jobs(for: newest) ?? [])
  }

  private mutating func settlement(
    _ delivery: Delivery, _ due: [Due], _ android: [AndroidKnowledge.Due]
  ) -> Settlement {
    for due in due {
      switch due {
      case .state(let state, _): book.note(state) { $0.updateJobs += 1 }
      case .start(let state, _): book.note(state) { $0.startJobs += 1 }
      }
    }
    for due in android { book.note(due.state) { $0.fcmJobs += 1 } }
    defer { book.close() }
    do {
      let jobs = try due.compactMap { due in
        switch due {
        case .state(let state, let registration): try state.job(to: registration)
        case .start(let state, let registration): try state.startJob(to: registration)
        }
      }
      var outgoing = jobs.map { pushes.carrying($0.message) }
      if let fcm { outgoing += android.map { fcm.carrying($0.job.message) } }
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

  /// Keeps those states that are newer than what is known.
  ///
  /// - Returns: those that are the newest now, the just kept and the repeated ones.
  private mutating func keepNewer(_ states: [ActivityState]) -> [ActivityState] {
    var newest: [ActivityState] = []
    for state in states {
      let before = knowledge.state(of: state.contextKey)
      book.open(state, knowing: before)
      guard let before else {
        knowledge.keep(state)
        newest.append(state)
        continue
      }
      // After an end nothing follows: a leaver's card stays ended while the others go on.
      if before.rev < state.rev, before.event != .end {
        knowledge.keep(state)
        newest.append(state)
      } else if before.rev == state.rev {
        newest.append(before)
      }
    }
    return newest
  }

  private mutating func pushesDue(for states: [ActivityState]) throws -> [Due] {
    var due: [Due] = []
    for state in states { due += try addressees(of: state).map { .state(state, $0) } }
    return due + startsDue(for: states)
  }

  /// Where its pushes go: the tokens that are registered for it; of a channel's state the channel,
  /// which is noted as one when it is first needed.
  private mutating func addressees(of state: ActivityState) throws -> [Registration] {
    let registered = knowledge.updateTokens(of: state.contextKey)
    guard let channel = try state.channelAddress(now: now) else { return registered }
    if let known = registered.first(where: {
      $0.token == channel.token && $0.userID == channel.userID
    }) {
      return [known]
    }
    knowledge.keep(channel: channel, of: state.contextKey)
    return [channel]
  }

  /// Every card that is to be started by push and was not accepted yet: the first event asks, and
  /// each later one asks again until APNs has accepted one.
  private mutating func startsDue(for states: [ActivityState]) -> [Due] {
    var due: [Due] = []
    for state in states where state.isStartable {
      guard !knowledge.isDismissed(state.contextKey) else {
        book.note(state) { $0.reason = "the phone dismissed this card" }
        continue
      }
      let fitting = knowledge.startTokens(of: state.userID).filter(state.fits)
      if fitting.isEmpty {
        book.note(state) { $0.reason = "no token registered: the card cannot be started" }
      }
      for registration in fitting {
        guard !knowledge.isAccepted(state.sessionID, by: registration.token) else {
          book.note(state) {
            $0.reason =
              state.extras?.channel == nil
              ? "started already; no update token registered yet"
              : "started already; the card listens to the channel"
          }
          continue
        }
        knowledge.keep(
          Start(
            sessionID: state.sessionID, token: registration.token, contextKey: state.contextKey,
            firstAskedAt: now, userID: state.userID, deviceID: registration.deviceID))
        due.append(.start(state, registration))
      }
    }
    return due
  }

  /// A token that registered late: an update token gets its activity's newest state or its end, a
  /// push-to-start token the starts that waited for it.
  private mutating func pushesDue(to registered: TokenRegistered) -> [Due] {
    switch TokenKind(name: registered.kind) {
    case .update:
      guard let context = registered.contextKey, let state = knowledge.state(of: context)
      else { return [] }
      return knowledge.updateTokens(of: context)
        .filter { $0.token.fingerprint == registered.tokenFingerprint }
        .map { .state(state, $0) }
    case .pushToStart:
      return startsDue(for: waiting(for: registered))
    case .alert, nil:
      return []
    }
  }

  /// An Android phone whose token came late gets its user's cards as they are.
  private func androidDue(after registered: TokenRegistered) -> [AndroidKnowledge.Due] {
    guard registered.kind == TokenRegistered.fcmKind, let android = knowledge.android
    else { return [] }
    return android.jobs(for: waiting(for: registered))
      .filter { $0.job.token.fingerprint == registered.tokenFingerprint }
  }

  private func waiting(for registered: TokenRegistered) -> [ActivityState] {
    knowledge.liveStates(of: registered.userID).filter { $0.deadline > now }
  }
}

extension ActivityState {
  /// A push-to-start token may be registered for one attributes type only.
  fileprivate func fits(_ registration: Registration) -> Bool {
    registration.attributesType == nil || registration.attributesType == attributesType
  }
}
