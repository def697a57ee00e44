import Pipeline
import Sessions
import Vocabulary

/// What was accepted and what reached which phone: the book that a load test's verdict is read
/// from. A value; takes about one kilobyte a session.
///
/// An *entry* is one event as one participant should see it: each accepted event of a session of
/// several people makes one per participant who has not left before. The recipients of an activity
/// are its participants; its events make one for each whose card they change.
package struct Ledger: Sendable {
  /// One push that the stand-in for APNs took, as its log tells.
  package struct Sighting: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable { case start, update, end }

    package let session: SessionID
    package let user: UserID
    package let kind: Kind
    /// Of a cook session's state; not looked at for an activity.
    package let rev: Int
    /// ``Offer/digest(of:)`` of an activity's state.
    package let state: String?
    package let at: UnixTime
    package let apnsID: String?

    package init(
      session: SessionID, user: UserID, kind: Kind, rev: Int, state: String? = nil, at: UnixTime,
      apnsID: String?
    ) {
      self.session = session
      self.user = user
      self.kind = kind
      self.rev = rev
      self.state = state
      self.at = at
      self.apnsID = apnsID
    }
  }

  /// What one card shows at the end.
  package struct Shown: Hashable, Sendable {
    package let rev: Int
    /// Whether a push can still change it.
    package let isLive: Bool

    package init(rev: Int, isLive: Bool) {
      self.rev = rev
      self.isLive = isLive
    }
  }

  /// How long after its event a push came.
  package enum Delay: Hashable, Sendable {
    /// A start, or the phone could be reached when the event happened.
    case direct(Duration)
    /// The card had just begun, and its token was on its way to us: what it had missed came after.
    case catchingUp(Duration)
  }

  struct Participant: Sendable {
    /// The rev at which it left; nothing after it is due.
    var leftAt: Int?
    /// Revs that did not change its card.
    var notDue: Set<Int> = []
    /// Of an activity: which revs have which state.
    var states: [String: Set<Int>] = [:]
    var delivered: Set<Int> = []
    var starts = 0
    var isLocal = false
    /// Since when the phone has a card.
    var cardSince: UnixTime?
    /// When the first push came that changed it: since then its token is known.
    var reachedAt: UnixTime?
    var newest = 0
    var outOfOrder = 0
    var repeated = 0
    var lastID: String?
  }

  struct Entry: Sendable {
    /// When each accepted rev was published.
    var revs: [Int: UnixTime] = [:]
    var newest = 0
    var isFinal = false
    /// Of an activity; nil for a cook session.
    var app: String?
    var isActivity: Bool { app != nil }
    /// In the session's order.
    var users: [UserID] = []
    var participants: [UserID: Participant] = [:]
  }

  private(set) var sessions: [SessionID: Entry] = [:]
  /// Events that the broker confirmed.
  package private(set) var accepted = 0
  /// Pushes for sessions or people that are none of this run.
  package private(set) var strangers = 0

  package init() {}

  /// The broker has confirmed this many events, all of them offered before.
  package mutating func accepted(_ count: Int) { accepted += count }

  /// An event is about to be published: from now on pushes of it may come. `moment`: when it
  /// happened.
  package mutating func offered(_ offer: Offer, at moment: UnixTime) {
    var entry = sessions[offer.id] ?? Entry()
    entry.app = offer.app
    let isFirst = entry.revs[offer.rev] == nil
    if isFirst { entry.revs[offer.rev] = moment }
    if offer.rev >= entry.newest {
      entry.newest = offer.rev
      entry.isFinal = offer.isFinal
    }
    for viewer in offer.viewers {
      var known = entry.participants[viewer.user] ?? Participant()
      if entry.participants[viewer.user] == nil {
        entry.users.append(viewer.user)
        // Whose card came later missed nothing.
        known.notDue = Set(entry.revs.keys.filter { $0 < offer.rev })
      }
      if !viewer.isPresent { known.leftAt = min(known.leftAt ?? viewer.rev, viewer.rev) }
      if viewer.rev < offer.rev { known.notDue.insert(offer.rev) }
      if let state = viewer.state { known.states[state, default: []].insert(viewer.rev) }
      entry.participants[viewer.user] = known
    }
    sessions[offer.id] = entry
  }

  /// An event was offered in vain, as far as we know: nobody has to see it.
  package mutating func withdrew(_ offer: Offer) {
    guard var entry = sessions[offer.id],
      !entry.participants.values.contains(where: { $0.newest >= offer.rev })
    else { return }
    entry.revs[offer.rev] = nil
    entry.newest = entry.revs.keys.max() ?? 0
    entry.isFinal = false
    for (user, participant) in entry.participants where participant.leftAt == offer.rev {
      entry.participants[user]?.leftAt = nil
    }
    sessions[offer.id] = entry.revs.isEmpty ? nil : entry
  }

  /// The phone's app started its own card.
  package mutating func startedLocally(_ session: SessionID, _ user: UserID, at moment: UnixTime) {
    sessions[session]?.participants[user]?.isLocal = true
    sessions[session]?.participants[user]?.cardSince = moment
  }

  /// APNs took a push.
  ///
  /// - Returns: how long it took; nil when it was no first arrival of its rev.
  @discardableResult
  package mutating func saw(_ sighting: Sighting) -> Delay? {
    guard let entry = sessions[sighting.session],
      var participant = entry.participants[sighting.user]
    else {
      strangers += 1
      return nil
    }
    guard let rev = entry.rev(of: sighting, to: participant) else {
      strangers += 1
      return nil
    }
    defer { sessions[sighting.session]?.participants[sighting.user] = participant }
    if sighting.kind == .start {
      participant.starts += 1
      participant.cardSince = participant.cardSince ?? sighting.at
    } else if rev < participant.newest {
      participant.outOfOrder += 1
    }
    participant.newest = max(participant.newest, rev)
    guard participant.delivered.insert(rev).inserted else {
      participant.repeated += 1
      return nil
    }
    guard let published = entry.revs[rev] else { return nil }
    let delay = max(.zero, sighting.at - published)
    guard sighting.kind != .start else { return .direct(delay) }
    let reachedAt = participant.reachedAt ?? sighting.at
    participant.reachedAt = reachedAt
    return published < reachedAt ? .catchingUp(delay) : .direct(delay)
  }

  /// Who begins its own card when its partner's has begun; nil when it has one.
  package func initiatorWithoutCard(of session: SessionID) -> UserID? {
    guard let entry = sessions[session], !entry.isActivity, let user = entry.users.first,
      entry.participants[user]?.isLocal == false
    else { return nil }
    return user
  }

  /// Which rev a card shows, of a state that an activity had for this user; 0 when it had none
  /// such.
  package func rev(showing state: String, of activity: SessionID, _ user: UserID) -> Int {
    sessions[activity]?.participants[user]?.states[state]?.max() ?? 0
  }

  /// Cards that do not show yet what they should.
  package var behind: Int {
    sessions.values.reduce(0) { total, entry in
      total
        + entry.participants.values.count { participant in
          participant.cardSince != nil
            && participant.newest < entry.last(of: participant)
        }
    }
  }
}
