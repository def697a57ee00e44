import Pipeline
import Pushes
import Sessions
import Vocabulary

/// A rule of the pipeline broken on purpose, to show that the simulation would see it. Nothing of
/// the pipeline is touched: what stands between it and the world lies to it.
enum BrokenRule: String, CaseIterable {
  /// A delivery is acknowledged when it comes, not when what it causes is confirmed.
  case acknowledgesBeforeConfirm
  /// What the broker refused or returned counts as published.
  case believesRefusedPublishes
  /// The broker's answers count for other messages than they are about.
  case mistakesAnswers
  /// What a lost connection heard counts for what the next one sends.
  case believesAnswersOfLostConnection
  /// The relay takes events out of the outbox before the broker has confirmed them.
  case removesBeforeConfirm
  /// The table of starts is not kept.
  case forgetsStarts
  /// The sender does not look whether another one holds a start.
  case takesHeldStarts
  /// The builder does not look whether it knows a newer state.
  case buildsOlderRevs
  /// The sender does not look whether a newer state is known: an old one goes out, newly stamped.
  case sendsSuperseded
  /// A token that registers late gets nothing.
  case ignoresLateTokens
  /// Each attempt of a push has an id of its own.
  case newIDForEachSend
  /// The sender does not look whether an alert was accepted before.
  case sendsAcceptedAlertsAgain
  /// Nobody looks whether an invitation is over.
  case ignoresResolved
  /// The expiry sweep overwrites what came meanwhile.
  case expiresWithoutComparing
  /// A delivery is settled although its transaction was not committed.
  case settlesWithoutStoring
  /// Nobody looks what FCM has taken already.
  case sendsToFCMAgain
  /// What FCM takes counts as the newest, though a newer state came before it.
  case believesLastToFCM
  /// The FCM sender does not look whether a newer state is known.
  case sendsSupersededToFCM
  /// An Android phone that registers late gets nothing.
  case ignoresLateAndroids
  /// The Web Push sender does not look whether a push was taken before.
  case sendsTakenWebPushesAgain
  /// The Web Push sender does not look whether a notification is over.
  case tellsBrowsersWhatIsOver

  /// Whether it takes browsers and Android phones to see it.
  private var isOfOtherPhones: Bool {
    switch self {
    case .sendsToFCMAgain, .believesLastToFCM, .sendsSupersededToFCM, .ignoresLateAndroids,
      .sendsTakenWebPushesAgain, .tellsBrowsersWhatIsOver:
      true
    default: false
    }
  }

  /// Within so many worlds it must be noticed. Two states that come to FCM the wrong way round are
  /// rare, and mended by whatever follows.
  var worldsMax: UInt64 {
    switch self {
    case .believesLastToFCM, .believesAnswersOfLostConnection: 400
    default: 60
    }
  }

  /// Who takes part in the worlds that show it soonest.
  var cast: Cast {
    switch self {
    case .expiresWithoutComparing: .shortLives
    case .believesLastToFCM: [.otherPhones, .slowWays]
    default: isOfOtherPhones ? .otherPhones : []
    }
  }

  /// The transaction through which this rule is broken; nil when it is broken elsewhere.
  func transaction(on inner: any StoreTransaction, of kind: ProcessKind)
    -> (any StoreTransaction)?
  {
    switch (self, kind) {
    case (.removesBeforeConfirm, .relay): RemovingAtOnce(inner)
    case (.forgetsStarts, _): ForgettingStarts(inner)
    case (.takesHeldStarts, .sender): ForgettingHolds(inner)
    case (.buildsOlderRevs, .builder), (.sendsSuperseded, .sender): KnowingNoStates(inner)
    case (.sendsAcceptedAlertsAgain, _): ForgettingAlerts(inner)
    case (.ignoresResolved, _): ForgettingResolved(inner)
    case (.expiresWithoutComparing, .sweep): ReplacingBlindly(inner)
    case (.sendsToFCMAgain, .fcmSender): ForgettingFCM(inner)
    case (.believesLastToFCM, .fcmSender): BelievingLast(inner)
    case (.sendsSupersededToFCM, .fcmSender): KnowingNothingOfFCM(inner)
    case (.ignoresLateAndroids, .builder): SeeingNoLiveStates(inner)
    case (.sendsTakenWebPushesAgain, .webPushSender): ForgettingAlerts(inner)
    case (.tellsBrowsersWhatIsOver, .webPushSender): ForgettingResolved(inner)
    default: nil
    }
  }
}

private final class RemovingAtOnce: ForwardingTransaction {
  override func leaseEvents(atMost count: Int, now: UnixTime, until: UnixTime) throws
    -> [OutboxEvent]
  {
    let events = try super.leaseEvents(atMost: count, now: now, until: until)
    try super.removeEvents(events.map(\.sequence))
    return events
  }
}

private final class ForgettingStarts: ForwardingTransaction {
  override func starts(of sessions: [SessionID]) throws -> [Start] { [] }
  override func start(of session: SessionID, token: PushToken) throws -> Start? { nil }
}

private final class ForgettingHolds: ForwardingTransaction {
  override func start(of session: SessionID, token: PushToken) throws -> Start? {
    var start = try super.start(of: session, token: token)
    start?.claimedUntil = nil
    return start
  }
}

private final class KnowingNoStates: ForwardingTransaction {
  override func activityStates(_ contexts: [ContextKey]) throws -> [ContextKey: ActivityState] {
    [:]
  }
  override func standings(of pushes: [(token: PushToken, context: ContextKey?)]) throws
    -> [PushStanding]
  {
    try super.standings(of: pushes).map { PushStanding(registrations: $0.registrations) }
  }
}

private final class ForgettingAlerts: ForwardingTransaction {
  override func acceptedJobs(among ids: [String]) throws -> Set<String> { [] }
}

private final class ForgettingResolved: ForwardingTransaction {
  override func resolvedKeys(among dedupeKeys: [String]) throws -> Set<String> { [] }
}

private class ForgettingFCM: ForwardingTransaction {
  override func deliveredRev(of context: ContextKey, to token: FCMToken) throws -> Int? { nil }
}

private final class KnowingNothingOfFCM: ForgettingFCM {
  override func activityStates(_ contexts: [ContextKey]) throws -> [ContextKey: ActivityState] {
    [:]
  }
}

private final class BelievingLast: ForwardingTransaction {
  override func raiseDeliveredRev(
    of context: ContextKey, to token: FCMToken, rev: Int, at moment: UnixTime
  ) throws -> Int {
    _ = try super.raiseDeliveredRev(of: context, to: token, rev: rev, at: moment)
    return rev
  }
}

private final class SeeingNoLiveStates: ForwardingTransaction {
  override func liveActivityStates(of user: UserID) throws -> [ActivityState] { [] }
}

private final class ReplacingBlindly: ForwardingTransaction {
  override func replace(_ seen: Session, with next: Session) throws -> Bool {
    try super.save(next)
    return true
  }
}
