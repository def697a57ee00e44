import Activities
import Vocabulary

/// Whether every phone shows the truth, and whether anything happened on the way that should not.
package struct Verdict: Hashable, Sendable, Codable {
  /// How many differences are told in words; all are counted.
  package static let differencesMax = 200

  package struct Difference: Hashable, Sendable, Codable {
    package let phone: String
    package let session: String
    /// What differs, in words.
    package let what: String
  }

  /// Nothing differs, is missing, was doubled, or is complained of, and no call waits.
  package private(set) var ok = true
  package var phones = 0
  package var browsers = 0
  /// Android phones.
  package var androids = 0
  package var sessions = 0
  /// Cards that were compared with the truth.
  package internal(set) var compared = 0
  package internal(set) var equal = 0
  /// Cards left out: their phone is offline or without the app, or the person swiped them away.
  package internal(set) var leftOut = 0
  package private(set) var different = 0
  package private(set) var differences: [Difference] = []
  /// Participants of a session that goes on whose phone shows no card of it.
  package internal(set) var missing = 0
  /// Banners of notifications that are over, on phones with a bell.
  package private(set) var overdueBanners = 0
  /// Notifications that browsers show.
  package private(set) var webNotifications = 0
  /// Sounds that phones made.
  package private(set) var sounds = 0
  /// Starts that came by push.
  package private(set) var starts = 0
  /// Starts beyond the first for one (session, push-to-start token).
  package private(set) var doubledStarts = 0
  /// Pushes that would have put an older state over a newer one.
  package private(set) var olderShown = 0
  package private(set) var complaintCount = 0
  package private(set) var complaints: [Complaint] = []
  package private(set) var pushes: [String: Int] = [:]
  package private(set) var callsWaiting = 0
  /// Sessions whose truth could not be asked for.
  package internal(set) var unknown: [String] = []

  enum CodingKeys: String, CodingKey {
    case ok, phones, browsers, androids, sounds, sessions, compared, equal, different, differences,
      missing,
      starts,
      complaints, pushes, unknown
    case leftOut = "left_out"
    case overdueBanners = "overdue_banners"
    case webNotifications = "web_notifications"
    case doubledStarts = "doubled_starts"
    case olderShown = "older_shown"
    case complaintCount = "complaint_count"
    case callsWaiting = "calls_waiting"
  }

  /// `ask` gives the truth about a session as the owner of a phone sees it, `askOwn` that about all
  /// other activities of that owner; both throw when there is no answer.
  package init(
    of fleet: Fleet, browsers: BrowserFleet = BrowserFleet(),
    androids: AndroidFleet = AndroidFleet(), callsWaiting: Int,
    ask: (_ session: SessionID, _ phoneID: String) throws -> SessionAnswer,
    askOwn: (_ phoneID: String) throws -> [OwnActivityAnswer] = { _ in [] }
  ) {
    phones = fleet.phones.count
    self.browsers = browsers.browsers.count
    webNotifications = browsers.browsers.values.reduce(0) { $0 + $1.shown.count }
    sounds = fleet.phones.values.reduce(0) { $0 + $1.counts.sounds }
    complaintCount = fleet.complaintCount
    complaints = fleet.complaints
    pushes = fleet.pushCounts
    olderShown = fleet.olderShown
    self.callsWaiting = callsWaiting
    countStarts(fleet)
    findOverdue(fleet)
    let holders = Self.holders(in: fleet)
    let owned = Dictionary(grouping: fleet.phoneIDs) { fleet.phones[$0]?.identity.userID }
    sessions = holders.count
    for (session, phoneIDs) in holders.sorted(by: { $0.key < $1.key }) {
      if let truth = judge(session, on: phoneIDs, of: fleet, ask: ask), !truth.isFinal {
        findMissing(truth, on: phoneIDs, of: fleet, owned: owned)
      }
    }
    for id in fleet.phoneIDs {
      guard let phone = fleet.phones[id], !phone.identity.app.isCook else { continue }
      judgeActivities(on: phone, askOwn)
    }
    self.androids = androids.phones.count
    judge(androids, ask: ask, askOwn: askOwn)
    ok =
      different == 0 && missing == 0 && overdueBanners == 0 && doubledStarts == 0
      && complaintCount == 0
      && callsWaiting == 0 && unknown.isEmpty
  }

  /// Which phones have a card of each session.
  private static func holders(in fleet: Fleet) -> [SessionID: [String]] {
    var holders: [SessionID: [String]] = [:]
    for id in fleet.phoneIDs {
      guard let phone = fleet.phones[id], phone.identity.app.isCook else { continue }
      for session in Set(phone.cards.map(\.sessionID)) {
        holders[session, default: []].append(id)
      }
    }
    return holders
  }

  private mutating func countStarts(_ fleet: Fleet) {
    for phone in fleet.phones.values {
      let pushed = phone.cards.filter { $0.origin == .push }.map(\.sessionID)
      starts += pushed.count
      doubledStarts += pushed.count - Set(pushed).count
    }
  }

  /// A silent push should have taken the banner away when the notification was resolved.
  private mutating func findOverdue(_ fleet: Fleet) {
    for id in fleet.phoneIDs {
      guard let phone = fleet.phones[id], let inbox = phone.inbox, phone.isOnline else { continue }
      let resolved = inbox.resolvedKeys
      for banner in phone.banners where resolved.contains(where: banner.isAbout) {
        overdueBanners += 1
        note(
          id, SessionID(banner.subject), "the banner \"\(banner.title)\" is over and still shown",
          isDifferent: false)
      }
    }
  }

  /// - Returns: the truth, as one of them sees it; nil when it could not be asked for.
  private mutating func judge(
    _ session: SessionID, on phoneIDs: [String], of fleet: Fleet,
    ask: (SessionID, String) throws -> SessionAnswer
  ) -> SessionAnswer? {
    var last: SessionAnswer?
    for id in phoneIDs {
      guard let phone = fleet.phones[id] else { continue }
      let cards = phone.cards.filter { $0.sessionID == session }
      guard phone.isInstalled, phone.isOnline, let card = cards.last,
        !cards.contains(where: { $0.standing == .dismissed })
      else {
        leftOut += 1
        continue
      }
      do {
        let truth = try ask(session, id)
        last = truth
        compare(card, on: phone, with: truth)
      } catch {
        unknown.append("\(session) as \(id): \(error)")
      }
    }
    return last
  }

  private mutating func compare(
    _ card: LockScreenCard, on phone: VirtualPhone, with truth: SessionAnswer
  ) {
    compared += 1
    let isOver = truth.isFinal || truth.hasLeft(phone.identity.userID)
    var problems: [String] = []
    if isOver == card.standing.isLive {
      problems.append("the card is \(card.standing.rawValue), the session is \(truth.state)")
    }
    // Who left sees what was true when it left.
    if !truth.hasLeft(phone.identity.userID) {
      problems += Self.differences(card.contentState, truth.shown)
    }
    guard !problems.isEmpty else {
      equal += 1
      return
    }
    note(phone.identity.id, card.sessionID, problems.joined(separator: "; "))
  }

  /// The first participant starts its own card; all others get theirs by push, on every phone.
  private mutating func findMissing(
    _ truth: SessionAnswer, on phoneIDs: [String], of fleet: Fleet, owned: [UserID?: [String]]
  ) {
    for invited in truth.participants.dropFirst() where invited.status != "left" {
      for id in owned[invited.userID] ?? [] where !phoneIDs.contains(id) {
        guard let phone = fleet.phones[id], phone.isInstalled, phone.isOnline else { continue }
        missing += 1
        note(id, truth.id, "no card, the session is \(truth.state)", isDifferent: false)
      }
    }
  }

  mutating func note(
    _ phone: String, _ session: SessionID, _ what: String, isDifferent: Bool = true
  ) {
    if isDifferent { different += 1 }
    guard differences.count < Self.differencesMax else { return }
    differences.append(Difference(phone: phone, session: session.text, what: what))
  }

  static func differences(_ shown: JSONValue, _ truth: JSONValue) -> [String] {
    guard shown != truth, case .object(let left) = shown, case .object(let right) = truth else {
      return []
    }
    return Set(left.keys).union(right.keys).sorted().filter { left[$0] != right[$0] }.map {
      "\($0) is \(text(left[$0])), want \(text(right[$0]))"
    }
  }

  private static func text(_ value: JSONValue?) -> String {
    String(decoding: (value ?? .null).encoded, as: UTF8.self)
  }
}

extension SessionAnswer {
  fileprivate func hasLeft(_ user: UserID) -> Bool {
    participants.contains { $0.userID == user && $0.status == "left" }
  }
}
