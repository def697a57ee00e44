import Pipeline
import Sessions
import Vocabulary

/// What was accepted and what reached which phone: the book that a load test's verdict is read
/// from. A value; takes about one kilobyte a session.
///
/// An *entry* is one event as one participant should see it: each accepted event of a session of
/// several people makes one per participant who has not left before.
package struct Ledger: Sendable {
  /// One push that the stand-in for APNs took, as its log tells.
  package struct Sighting: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable { case start, update, end }

    package let session: SessionID
    package let user: UserID
    package let kind: Kind
    package let rev: Int
    package let at: UnixTime
    package let apnsID: String?

    package init(
      session: SessionID, user: UserID, kind: Kind, rev: Int, at: UnixTime, apnsID: String?
    ) {
      self.session = session
      self.user = user
      self.kind = kind
      self.rev = rev
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
  package mutating func offered(_ session: Session, at moment: UnixTime) {
    guard !session.isSolo else { return }
    var entry = sessions[session.id] ?? Entry()
    if entry.revs[session.rev] == nil { entry.revs[session.rev] = moment }
    if session.rev >= entry.newest {
      entry.newest = session.rev
      entry.isFinal = session.state.isFinal
    }
    for participant in session.participants {
      var known = entry.participants[participant.userID] ?? Participant()
      if entry.participants[participant.userID] == nil { entry.users.append(participant.userID) }
      if !participant.isPresent { known.leftAt = min(known.leftAt ?? session.rev, session.rev) }
      entry.participants[participant.userID] = known
    }
    sessions[session.id] = entry
  }

  /// An event was offered in vain, as far as we know: nobody has to see it.
  package mutating func withdrew(_ session: Session) {
    guard var entry = sessions[session.id],
      !entry.participants.values.contains(where: { $0.newest >= session.rev })
    else { return }
    entry.revs[session.rev] = nil
    entry.newest = entry.revs.keys.max() ?? 0
    entry.isFinal = false
    for (user, participant) in entry.participants where participant.leftAt == session.rev {
      entry.participants[user]?.leftAt = nil
    }
    sessions[session.id] = entry.revs.isEmpty ? nil : entry
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
    defer { sessions[sighting.session]?.participants[sighting.user] = participant }
    if sighting.kind == .start {
      participant.starts += 1
      participant.cardSince = participant.cardSince ?? sighting.at
    } else if sighting.rev < participant.newest {
      participant.outOfOrder += 1
    }
    participant.newest = max(participant.newest, sighting.rev)
    guard participant.delivered.insert(sighting.rev).inserted else {
      participant.repeated += 1
      return nil
    }
    guard let published = entry.revs[sighting.rev] else { return nil }
    let delay = max(.zero, sighting.at - published)
    guard sighting.kind != .start else { return .direct(delay) }
    let reachedAt = participant.reachedAt ?? sighting.at
    participant.reachedAt = reachedAt
    return published < reachedAt ? .catchingUp(delay) : .direct(delay)
  }

  /// Who begins its own card when its partner's has begun; nil when it has one.
  package func initiatorWithoutCard(of session: SessionID) -> UserID? {
    guard let entry = sessions[session], let user = entry.users.first,
      entry.participants[user]?.isLocal == false
    else { return nil }
    return user
  }

  /// Cards that do not show yet what they should.
  package var behind: Int {
    sessions.values.reduce(0) { total, entry in
      total
        + entry.participants.values.count { participant in
          participant.cardSince != nil
            && participant.newest < participant.leftAt ?? entry.newest
        }
    }
  }
}
