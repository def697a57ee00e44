import Pushes
import Sessions
import Vocabulary

/// What happened to one session, moment by moment, in words: from the API to what the phones
/// reported, and for each person why the phone does not show the newest rev. Pure.
package struct Timeline: Sendable {
  package enum Source: String, Hashable, Sendable, Comparable {
    // In the order in which they follow each other within one moment.
    case api, token, builder, sender, phone

    package static func < (left: Self, right: Self) -> Bool { left.place < right.place }

    private var place: Int {
      switch self {
      case .api: 0
      case .token: 1
      case .builder: 2
      case .sender: 3
      case .phone: 4
      }
    }
  }

  package struct Entry: Hashable, Sendable {
    package let at: UnixTime
    package let source: Source
    /// Whose phone, or who did it; nil for the kitchen and the clock.
    package let userID: UserID?
    package let rev: Int?
    package let tokenFingerprint: String?
    package let text: String
  }

  package struct Answer: Hashable, Sendable {
    package let userID: UserID
    /// Whether the phone has said that it shows the newest rev.
    package let showsNewest: Bool
    package let text: String
  }

  /// Oldest first.
  package let entries: [Entry]
  /// Why each person's phone does not show the newest rev.
  package let answers: [Answer]

  /// `user`: only what concerns this one, and what everybody did; nil: everybody.
  package init(_ history: SessionHistory, for user: UserID? = nil, now: UnixTime) {
    func isMeant(_ other: UserID) -> Bool { user == nil || user == other }
    var entries = history.mutations.map { Self.entry($0, history) }
    entries += history.builds.filter { isMeant($0.userID) }.map(Self.entry)
    entries += history.deliveries.filter { isMeant($0.userID) }.map(Self.entry)
    entries += history.reports.filter { isMeant($0.userID) }.map(Self.entry)
    entries += history.tokens.filter { isMeant($0.registration.userID) }.flatMap {
      Self.entries($0, history)
    }
    entries += history.androids.filter { isMeant($0.row.registration.userID) }.flatMap {
      Self.entries($0.row, history)
    }
    // The sort is stable: what is of one moment and source stays in the order it was kept in.
    self.entries = entries.sorted { ($0.at, $0.source) < ($1.at, $1.source) }
    answers = history.users.filter(isMeant).map { PhoneAnswer(for: $0, history, now: now).answer }
  }

  private static func entry(_ mutation: MutationRecord, _ history: SessionHistory) -> Entry {
    let actor = mutation.userID?.text ?? (mutation.isOfClock ? "the clock" : "the kitchen")
    let waits = history.unpublished.contains(mutation.eventID)
    return Entry(
      at: mutation.acceptedAt, source: .api, userID: mutation.userID, rev: mutation.rev,
      tokenFingerprint: nil,
      text: "\(mutation.mutation) by \(actor) → rev \(mutation.rev); event \(mutation.eventType) "
        + (waits ? "waits in the outbox" : "published"))
  }

  private static func entry(_ build: BuildRecord) -> Entry {
    Entry(
      at: build.builtAt, source: .builder, userID: build.userID, rev: build.rev,
      tokenFingerprint: nil, text: RecordWords.text(of: build))
  }

  private static func entry(_ delivery: DeliveryRecord) -> Entry {
    Entry(
      at: delivery.settledAt, source: .sender, userID: delivery.userID, rev: delivery.rev,
      tokenFingerprint: delivery.tokenFingerprint, text: RecordWords.text(of: delivery))
  }

  private static func entry(_ report: PhoneReport) -> Entry {
    let rev = report.rev.map { " rev \($0)" } ?? ""
    let text =
      switch report.state {
      case .active: "reports that it shows\(rev.isEmpty ? " the card" : rev)"
      case .stale: "reports\(rev) as stale"
      case .ended: "reports that the card has ended\(rev.isEmpty ? "" : " with\(rev)")"
      case .dismissed: "reports that the card was dismissed"
      case .gone: "the card is taken to be gone: its last update token died"
      }
    return Entry(
      at: report.reportedAt, source: report.state == .gone ? .sender : .phone,
      userID: report.userID, rev: report.rev,
      tokenFingerprint: nil, text: text)
  }

  /// When it was registered, unless that was before the session, and when it was pruned, unless an
  /// attempt tells that.
  private static func entries(_ row: TokenRow, _ history: SessionHistory) -> [Entry] {
    let registration = row.registration
    return entries(
      TokenLines(
        user: registration.userID, fingerprint: registration.token.fingerprint,
        kind: registration.kind.rawValue, place: registration.environment.rawValue,
        registeredAt: registration.registeredAt, prunedAt: row.prunedAt,
        prunedBecause: row.prunedBecause, isOfCard: registration.kind == .update), history)
  }

  private static func entries(_ row: FCMRow, _ history: SessionHistory) -> [Entry] {
    let registration = row.registration
    return entries(
      TokenLines(
        user: registration.userID, fingerprint: registration.token.fingerprint,
        kind: TokenRegistered.fcmKind, place: registration.packageName ?? "any app",
        registeredAt: registration.registeredAt, prunedAt: row.prunedAt,
        prunedBecause: row.prunedBecause, isOfCard: false), history)
  }

  /// What is told of a token, whichever service it is of.
  private struct TokenLines {
    let user: UserID
    let fingerprint: String
    let kind: String
    let place: String
    let registeredAt: UnixTime
    let prunedAt: UnixTime?
    let prunedBecause: String?
    /// Of this session alone: told whenever it was registered.
    let isOfCard: Bool
  }

  private static func entries(_ token: TokenLines, _ history: SessionHistory) -> [Entry] {
    let begun = history.mutations.first?.acceptedAt ?? history.session?.createdAt
    func entry(_ moment: UnixTime, _ text: String) -> Entry {
      Entry(
        at: moment, source: .token, userID: token.user, rev: nil,
        tokenFingerprint: token.fingerprint, text: "\(token.kind) \(token.fingerprint) \(text)")
    }
    var entries: [Entry] = []
    if token.isOfCard || begun.map({ token.registeredAt >= $0 }) ?? true {
      entries.append(entry(token.registeredAt, "registered, \(token.place)"))
    }
    let isTold = history.deliveries.contains {
      $0.tokenFingerprint == token.fingerprint && $0.consequence == .pruned
    }
    if let moment = token.prunedAt, !isTold, begun.map({ moment >= $0 }) ?? true {
      entries.append(entry(moment, "pruned: \(token.prunedBecause ?? "without a reason")"))
    }
    return entries
  }
}

extension MutationRecord {
  fileprivate var isOfClock: Bool { mutation == "expire" || mutation == "job_timeout" }
}
