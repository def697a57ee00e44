import Activities
import ActivityContracts
import Vocabulary

/// A phone as iOS behaves, from its push inbox to its Lock Screen.
///
/// A value: things happen to it, and it says what it wants done. It decodes by the contract that
/// its app was compiled with, as the plain JSON decoder does, and drops what does not decode, as
/// iOS does.
package struct VirtualPhone: Hashable, Sendable {
  /// The longest life of a Live Activity. Source: developer.apple.com, "Displaying live data".
  package static let lifeMax = Duration.seconds(8 * 3600)
  /// How long an ended card stays when no dismissal date says otherwise, and at most.
  package static let endedMax = Duration.seconds(4 * 3600)
  /// A stamp further ahead is dropped. Source: Apple's developer forums, thread 776165.
  package static let aheadMax = Duration.seconds(8 * 3600)
  /// How many banners the Lock Screen keeps; the oldest go first.
  package static let bannersMax = 20
  /// How many sounds are remembered, to notice a second one.
  package static let soundsMax = 50

  package private(set) var identity: PhoneIdentity
  /// Oldest first; those that are gone stay in the list, for the verdict.
  package internal(set) var cards: [LockScreenCard] = []
  /// Newest first.
  package internal(set) var banners: [Banner] = []
  package private(set) var isOnline = true
  package private(set) var isInstalled = true
  /// The one push that APNs keeps while the phone is offline.
  package private(set) var held: AcceptedPush?
  /// What the channels of its cards keep meanwhile, by the card's update token.
  private var heldBroadcasts: [String: AcceptedPush] = [:]
  /// Newest first.
  package internal(set) var sounds: [Sound] = []
  /// What its bell shows; nil before the first look.
  package var inbox: Inbox?
  package internal(set) var counts = PhoneCounts()
  private var budget: PushBudget
  /// Update and push-to-start tokens that iOS has replaced.
  private(set) var retiredTokens: [String] = []

  package init(_ identity: PhoneIdentity, budget: PushBudget = PushBudget()) {
    self.identity = identity
    self.budget = budget
  }

  /// A push that APNs has taken for this phone.
  package mutating func receive(
    _ push: AcceptedPush, at now: UnixTime, mint: inout TokenMint
  ) -> [PhoneEffect] {
    guard isInstalled else { return [] }
    guard isOnline else {
      hold(push, at: now)
      return []
    }
    counts.received += 1
    // What cannot be read was complained of when APNs took it; iOS drops it without a word.
    guard case .success(let payload) = push.payload else {
      counts.dropped += 1
      return []
    }
    if push.type == .liveactivity, let event = payload.event,
      !budget.spend(on: event, priority: push.priority, at: now)
    {
      counts.overBudget += 1
      return []
    }
    switch push.type {
    case .liveactivity where payload.event == .start && push.use == .pushToStart:
      return start(payload, of: push, at: now, mint: &mint)
    case .liveactivity where push.use == .update && payload.event != .start:
      return change(payload, token: push.token, at: now)
    case .alert:
      return show(payload, of: push, at: now)
    case .background:
      if case .string(let key) = payload.custom["resolve"] { resolve(key) }
      return []
    default:
      counts.dropped += 1
      return []
    }
  }

  /// APNs keeps one push per device and app: a newer one replaces it, whatever it was about.
  private mutating func hold(_ push: AcceptedPush, at now: UnixTime) {
    guard push.isDeliverable(at: now) else {
      counts.expired += 1
      return
    }
    if push.isBroadcast {
      heldBroadcasts[push.token] = push
      return
    }
    if held != nil { counts.overwritten += 1 }
    held = push
  }

  /// What time alone does: cards go stale, reach the end of their life, and leave.
  package mutating func pass(to now: UnixTime) -> [PhoneEffect] {
    guard isInstalled else { return [] }
    var effects: [PhoneEffect] = []
    for index in cards.indices {
      if cards[index].standing.isLive, now - cards[index].startedAt >= Self.lifeMax {
        end(index, at: now, dismissAt: nil)
        effects.append(.call(identity.report("ended", of: cards[index])))
      }
      if cards[index].standing == .active, let staleAt = cards[index].staleAt, staleAt <= now {
        cards[index].standing = .stale
        cards[index].changedAt = now
        effects.append(.call(identity.report("stale", of: cards[index])))
      }
      if cards[index].standing == .ended, let dismissAt = cards[index].dismissAt, dismissAt <= now {
        cards[index].standing = .removed
        cards[index].changedAt = now
      }
    }
    return effects
  }

  mutating func end(_ index: Int, at now: UnixTime, dismissAt: UnixTime?) {
    let latest = now + Self.endedMax
    cards[index].standing = .ended
    cards[index].dismissAt = min(dismissAt ?? latest, latest)
    cards[index].changedAt = now
    if let dismissAt = cards[index].dismissAt, dismissAt <= now {
      cards[index].standing = .removed
    }
  }
}

// MARK: What its owner does

extension VirtualPhone {
  package mutating func goOffline() { isOnline = false }

  /// Delivers what APNs kept, unless it has expired.
  package mutating func goOnline(at now: UnixTime, mint: inout TokenMint) -> [PhoneEffect] {
    isOnline = true
    let waiting = [held].compactMap(\.self) + heldBroadcasts.sorted { $0.key < $1.key }.map(\.value)
    held = nil
    heldBroadcasts = [:]
    return waiting.flatMap { push -> [PhoneEffect] in
      guard push.isDeliverable(at: now) else {
        counts.expired += 1
        return []
      }
      return receive(push, at: now, mint: &mint)
    }
  }

  /// Swipes the card of a session away, or every card when `session` is nil.
  package mutating func dismiss(_ session: SessionID?, at now: UnixTime) -> [PhoneEffect] {
    dismiss(at: now) { session == nil || $0.sessionID == session }
  }

  /// Swipes those away that are meant.
  package mutating func dismiss(
    at now: UnixTime, where isMeant: (LockScreenCard) -> Bool
  ) -> [PhoneEffect] {
    var effects: [PhoneEffect] = []
    for index in cards.indices where cards[index].standing.isShown && isMeant(cards[index]) {
      cards[index].standing = .dismissed
      cards[index].changedAt = now
      effects.append(.call(identity.report("dismissed", of: cards[index])))
    }
    return effects
  }

  /// iOS gives the app a new push-to-start token and every live card a new update token, and the
  /// app registers all its tokens again.
  package mutating func rotateTokens(mint: inout TokenMint) -> [PhoneEffect] {
    guard isInstalled else { return [] }
    retiredTokens.append(identity.pushToStartToken)
    identity.pushToStartToken = mint.hex(digits: TokenMint.deviceDigits)
    var calls = identity.registrations
    for index in cards.indices
    where cards[index].standing.isLive && cards[index].channelID == nil {
      retiredTokens.append(cards[index].updateToken)
      cards[index].updateToken = mint.activityToken()
      calls.append(identity.registration(of: cards[index]))
    }
    return calls.map(PhoneEffect.call)
  }

  /// From now on APNs answers 410 to its tokens. The app can report nothing any more.
  package mutating func uninstall(at now: UnixTime) {
    isInstalled = false
    held = nil
    banners = []
    for index in cards.indices where cards[index].standing.isShown {
      cards[index].standing = .removed
      cards[index].changedAt = now
    }
  }

  /// The app runs and starts its own card, as the one who opens a session does.
  package mutating func startLocally(
    _ attributes: CookSuggestActivityAttributes,
    showing state: CookSuggestActivityAttributes.ContentState, staleAt: UnixTime?,
    at now: UnixTime, mint: inout TokenMint
  ) -> [PhoneEffect] {
    // The app stamps its own content with the time of the state, so that a push that left a moment
    // earlier with a newer state still counts.
    let stamp = state.updatedAt.flatMap { UnixTime($0) } ?? now
    return add(
      .plain(attributes), showing: .plain(state), subject: SessionID(attributes.sessionId),
      origin: .local, timestamp: min(stamp, now).seconds, staleAt: staleAt, at: now, mint: &mint)
  }

  mutating func add(
    _ attributes: JSONValue, showing state: JSONValue, subject: SessionID,
    origin: LockScreenCard.Origin, timestamp: Int64, staleAt: UnixTime?,
    listeningTo channel: String? = nil, at now: UnixTime, mint: inout TokenMint
  ) -> [PhoneEffect] {
    let card = LockScreenCard(
      activityID: mint.uuid(), updateToken: mint.activityToken(), channelID: channel,
      origin: origin,
      attributesType: identity.app.attributesType, attributes: attributes, contentState: state,
      contextKey: identity.app.contract.contextKey(
        ofAttributes: attributes, user: identity.userID),
      sessionID: subject, timestamp: timestamp, standing: .active,
      staleAt: staleAt, dismissAt: nil, startedAt: now, changedAt: now)
    cards.append(card)
    // A card that listens to a channel has no token of its own to register.
    let registration = channel == nil ? [PhoneEffect.call(identity.registration(of: card))] : []
    return registration + [.call(identity.report("active", of: card))]
  }
}

extension JSONValue {
  /// A value of ours as the JSON it is written as.
  package static func plain(_ value: some Encodable) -> JSONValue {
    do {
      return try JSONValue(parsing: JSON.encoded(value))
    } catch {
      preconditionFailure("what was just encoded does not read back: \(error)")
    }
  }
}

/// An ordinary notification on the Lock Screen.
package struct Banner: Hashable, Sendable {
  package let title: String
  package let body: String
  /// The top-level `link`: where a tap leads.
  package let link: String?
  package let collapseID: String?
  /// The top-level `dedupe_key`: which notification it belongs to.
  package let dedupeKey: String?
  package let apnsID: String?
  package let hasSound: Bool
  package let shownAt: UnixTime
}

/// One sound that a phone made.
package struct Sound: Hashable, Sendable {
  package enum Source: String, Hashable, Sendable {
    case alert
    case start = "Live Activity start"
  }

  package let source: Source
  /// The session it was about, or what stands for one.
  package let subject: String
}

/// What a phone counts of its pushes.
package struct PhoneCounts: Hashable, Sendable, Codable {
  /// Arrived while online.
  package var received = 0
  /// Could not be read or decoded, or came to an activity that was over.
  package var dropped = 0
  /// Ignored because their stamp or their rev was older than what is shown.
  package var olderIgnored = 0
  /// Lost at APNs because a newer one took the only place.
  package var overwritten = 0
  /// Lost at APNs because they expired while the phone was offline.
  package var expired = 0
  /// Live Activity pushes over its budget.
  package var overBudget = 0
  /// Starts that came by push.
  package var starts = 0
  /// How often it made a sound.
  package var sounds = 0
  /// Banners that a silent push took away.
  package var resolved = 0
}
