import Activities
import Foundation
import Pipeline
import Sessions
import TestSupport
import Testing
import Vocabulary

@testable import Replay

/// Activities in the ledger: their cards do not say which rev they show, their states do.
@Suite struct ActivityLedgerTests {
  private static let dennis = Samples.dennis.userID
  private static let mara = Samples.mara.userID
  private static let id = SessionID("activity:order-7")

  private func offer(_ story: ActivityStory, to ledger: inout Ledger) {
    ledger.offered(Ledger.Offer(story.activity), at: story.activity.updatedAt)
    ledger.accepted(1)
  }

  /// Mara's card begins, Dennis' too; then only Mara's changes, then both.
  private func book(ending: Bool = false) throws -> (Ledger, ActivityStory) {
    var ledger = Ledger()
    var story = ActivityStory()
    offer(story, to: &ledger)
    try story.update("Im Ofen", [Self.mara])
    offer(story, to: &ledger)
    try story.update("Unterwegs")
    offer(story, to: &ledger)
    if ending {
      story.end()
      offer(story, to: &ledger)
    }
    return (ledger, story)
  }

  private static let begun = ActivityStory.state("Wird gebacken", 0.25)

  private func saw(
    _ ledger: inout Ledger, _ user: UserID, _ kind: Ledger.Sighting.Kind, _ state: JSONValue
  ) {
    ledger.saw(
      .init(
        session: Self.id, user: user, kind: kind, rev: 0, state: Ledger.Offer.digest(of: state),
        at: Samples.noon + .seconds(100), apnsID: nil))
  }

  private func state(_ title: String) -> JSONValue { ActivityStory.state(title, 0.5) }

  private func shown(_ ledger: Ledger, _ user: UserID, _ state: JSONValue, isLive: Bool = true)
    -> Ledger.Shown
  {
    let rev = ledger.rev(showing: Ledger.Offer.digest(of: state), of: Self.id, user)
    return Ledger.Shown(rev: rev, isLive: isLive)
  }

  private func verdict(
    _ ledger: Ledger, mara: Ledger.Shown?, dennis: Ledger.Shown?,
    without: Set<UserID> = []
  ) -> LedgerVerdict {
    let verdict = ledger.verdict(
      shown: { _, user in user == Self.mara ? mara : dennis }, fate: { _, _, _ in nil },
      without: { without.contains($1) })
    let sum =
      verdict.delivered + verdict.superseded + verdict.expired + verdict.dead + verdict.cardless
      + verdict.lost
    #expect(sum == verdict.entries)
    return verdict
  }

  @Test func `a change is due to those whose card it changes`() throws {
    var (ledger, _) = try book()
    for user in [Self.mara, Self.dennis] { saw(&ledger, user, .start, Self.begun) }
    saw(&ledger, Self.mara, .update, state("Unterwegs"))
    #expect(ledger.behind == 1)
    saw(&ledger, Self.dennis, .update, state("Unterwegs"))
    let end = shown(ledger, Self.mara, state("Unterwegs"))
    let verdict = verdict(ledger, mara: end, dennis: end)
    #expect(verdict.isGood && verdict.activities == 1 && verdict.sessions == 0)
    #expect(verdict.accepted == 3 && verdict.entries == 5)
    #expect(verdict.delivered == 4 && verdict.superseded == 1 && ledger.behind == 0)
    #expect(verdict.words.contains("0 sessions and 1 activities"))
  }

  @Test func `what a phone does not show is lost, whatever APNs took`() throws {
    var (ledger, _) = try book()
    for user in [Self.mara, Self.dennis] {
      saw(&ledger, user, .start, Self.begun)
      saw(&ledger, user, .update, state("Unterwegs"))
    }
    let behind = shown(ledger, Self.dennis, Self.begun)
    let good = shown(ledger, Self.mara, state("Unterwegs"))
    let verdict = verdict(ledger, mara: good, dennis: behind)
    #expect(verdict.lost == 1)
    #expect(verdict.faults.map(\.what) == ["1 lost: shows rev 1, live; want 3, live"])
  }

  @Test func `every recipient needs a card, the first one too, unless nobody can start it`() throws
  {
    let (ledger, _) = try book()
    #expect(verdict(ledger, mara: nil, dennis: nil).lost == 5)
    let both: Set<UserID> = [Self.mara, Self.dennis]
    let unreachable = verdict(ledger, mara: nil, dennis: nil, without: both)
    #expect(unreachable.isGood && unreachable.cardless == 5)
  }

  @Test func `an older state after a newer one is out of order`() throws {
    var (ledger, _) = try book()
    saw(&ledger, Self.mara, .start, Self.begun)
    saw(&ledger, Self.mara, .update, state("Unterwegs"))
    saw(&ledger, Self.mara, .update, state("Im Ofen"))
    let end = shown(ledger, Self.mara, state("Unterwegs"))
    #expect(verdict(ledger, mara: end, dennis: nil).outOfOrder == 1)
  }

  @Test func `an end that shows what was shown last is another event than its update`() throws {
    var (ledger, _) = try book(ending: true)
    for user in [Self.mara, Self.dennis] { saw(&ledger, user, .start, Self.begun) }
    for user in [Self.mara, Self.dennis] { saw(&ledger, user, .update, state("Unterwegs")) }
    let live = shown(ledger, Self.mara, state("Unterwegs"))
    // The card still stands: nobody ended it.
    #expect(verdict(ledger, mara: live, dennis: live).lost == 2)
    for user in [Self.mara, Self.dennis] { saw(&ledger, user, .end, state("Unterwegs")) }
    let over = shown(ledger, Self.mara, state("Unterwegs"), isLive: false)
    let verdict = verdict(ledger, mara: over, dennis: over)
    #expect(verdict.isGood && verdict.repeated == 0 && verdict.delivered == 6)
  }

  @Test func `a state that comes back is not out of order`() throws {
    var ledger = Ledger()
    var story = ActivityStory(of: [Self.mara])
    offer(story, to: &ledger)
    for title in ["Rot", "Grün", "Rot", "Grün"] {
      try story.update(title)
      offer(story, to: &ledger)
    }
    saw(&ledger, Self.mara, .start, Self.begun)
    for title in ["Rot", "Grün", "Rot", "Grün"] { saw(&ledger, Self.mara, .update, state(title)) }
    let end = shown(ledger, Self.mara, state("Grün"))
    let verdict = verdict(ledger, mara: end, dennis: nil)
    #expect(verdict.isGood && verdict.delivered == 5 && verdict.repeated == 0)
  }

  @Test func `a state of no event is a stranger's, and what was offered in vain due to nobody`()
    throws
  {
    var ledger = Ledger()
    var story = ActivityStory(of: [Self.mara])
    offer(story, to: &ledger)
    saw(&ledger, Self.mara, .start, Self.begun)
    saw(&ledger, Self.mara, .update, state("Nie gesagt"))
    #expect(ledger.strangers == 1)
    try story.update("Im Ofen")
    ledger.offered(Ledger.Offer(story.activity), at: Samples.noon)
    ledger.withdrew(Ledger.Offer(story.activity))
    #expect(
      verdict(ledger, mara: shown(ledger, Self.mara, Self.begun), dennis: nil).isGood)
  }
}
