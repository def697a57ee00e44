import Pipeline
import Sessions
import Vocabulary

/// What became of everything that was accepted. The entries are `delivered` + `superseded` +
/// `expired` + `dead` + `cardless` + `lost`.
package struct LedgerVerdict: Hashable, Sendable, Codable {
  /// Faults that are told in words.
  package static let faultsMax = 50

  package struct Fault: Hashable, Sendable, Codable {
    package let session: String
    package let user: String
    package let what: String
  }

  /// Events that the broker confirmed.
  package var accepted = 0
  package var sessions = 0
  package var activities = 0
  /// Events as participants should see them.
  package var entries = 0
  /// A push of this rev was taken.
  package var delivered = 0
  /// A newer one was, in its place.
  package var superseded = 0
  /// Its deadline passed first.
  package var expired = 0
  /// It lies in a dead queue.
  package var dead = 0
  /// There was no card to change: the session was over before one could begin.
  package var cardless = 0
  /// None of these: the phone shows something older. Must be 0.
  package var lost = 0
  /// Second starts of a card, and what else phones complained of as doubled. Must be 0.
  package var doubled = 0
  /// An older state came to a phone after a newer one. Must be 0.
  package var outOfOrder = 0
  /// The same state once more, which changes nothing.
  package var repeated = 0
  /// What phones complained of during the run, of whatever kind.
  package var complaints = 0
  package var faults: [Fault] = []

  package var isGood: Bool { lost == 0 && doubled == 0 && outOfOrder == 0 }

  enum CodingKeys: String, CodingKey {
    case accepted, sessions, activities, entries, delivered, superseded, expired, dead, cardless
    case lost, doubled
    case outOfOrder = "out_of_order"
    case repeated, complaints, faults
  }

  package init() {}

  package var words: String {
    "\(isGood ? "ok" : "NOT OK"): \(accepted) events accepted in \(sessions) sessions"
      + (activities > 0 ? " and \(activities) activities, " : ", ")
      + "\(entries) views of them: \(delivered) delivered, \(superseded) superseded, "
      + "\(expired) expired, \(dead) dead, \(cardless) without a card; "
      + "\(lost) lost, \(doubled) doubled, \(outOfOrder) out of order"
  }

  mutating func count(_ fate: RecordedFate?) {
    switch fate {
    case .expired: expired += 1
    case .dead: dead += 1
    case nil: break
    }
  }

  mutating func fault(_ session: SessionID, _ user: UserID, _ what: String) {
    guard faults.count < Self.faultsMax else { return }
    faults.append(Fault(session: session.text, user: user.text, what: what))
  }
}

/// What the store says became of a push that no phone has: only asked where one is missing.
package enum RecordedFate: Hashable, Sendable { case expired, dead }

extension Ledger {
  /// Reads the verdict from the book.
  ///
  /// `shown`: what each card shows, nil for a card that is not there. `fate`: what the store says
  /// of one rev for one participant, nil when it does not know. `cardless`: those whose phones no
  /// start can reach, `without`: the same for the activities of one app, given its attributes type.
  /// `doubled`: what phones complained of as doubled, besides second starts.
  package func verdict(
    shown: (SessionID, UserID) -> Shown?, fate: (SessionID, UserID, Int) -> RecordedFate?,
    cardless: Set<UserID> = [], without: (_ app: String, UserID) -> Bool = { _, _ in false },
    doubled: Int = 0
  ) -> LedgerVerdict {
    var verdict = LedgerVerdict()
    verdict.accepted = accepted
    verdict.activities = sessions.values.count(where: \.isActivity)
    verdict.sessions = sessions.count - verdict.activities
    verdict.doubled = doubled
    for (id, entry) in sessions.sorted(by: { $0.key < $1.key }) {
      for (place, user) in entry.users.enumerated() {
        guard let participant = entry.participants[user] else { continue }
        let needsCard =
          entry.app.map { !without($0, user) } ?? (place > 0 && !cardless.contains(user))
        judge(
          participant, user, needsCard: needsCard, of: id, entry,
          shown: shown(id, user),
          fate: { fate(id, user, $0) }, &verdict)
      }
    }
    return verdict
  }

  private func judge(
    _ participant: Participant, _ user: UserID, needsCard: Bool, of session: SessionID,
    _ entry: Entry,
    shown: Shown?, fate: (Int) -> RecordedFate?, _ verdict: inout LedgerVerdict
  ) {
    let last = entry.last(of: participant)
    let isOver = entry.isFinal || participant.leftAt != nil
    let reached = shown?.rev ?? participant.delivered.max() ?? 0
    var lost = 0
    for rev in entry.due(of: participant) {
      verdict.entries += 1
      if rev == last, let shown, shown.rev < last || shown.isLive == isOver {
        // Whatever APNs took: this is what the person sees.
        lost += fate(rev) == nil ? 1 : 0
        verdict.count(fate(rev))
      } else if participant.delivered.contains(rev) {
        verdict.delivered += 1
      } else if rev <= reached {
        verdict.superseded += 1
      } else {
        let known = fate(rev)
        verdict.count(known)
        guard known == nil else { continue }
        // The first participant's app begins its own card, when it sees the partner's.
        if shown == nil, participant.cardSince == nil, isOver || !needsCard {
          verdict.cardless += 1
        } else {
          lost += 1
        }
      }
    }
    verdict.lost += lost
    if lost > 0 {
      let standing = shown.map { $0.isLive ? "live" : "ended" } ?? "no card"
      verdict.fault(
        session, user,
        "\(lost) lost: shows rev \(reached), \(standing); want \(last), "
          + (isOver ? "ended" : "live"))
    }
    let again = max(0, participant.starts - 1)
    verdict.doubled += again
    if again > 0 { verdict.fault(session, user, "started \(participant.starts) times") }
    verdict.outOfOrder += participant.outOfOrder
    if participant.outOfOrder > 0 {
      verdict.fault(session, user, "\(participant.outOfOrder) older states came after newer ones")
    }
    verdict.repeated += participant.repeated
  }
}
