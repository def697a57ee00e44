import Foundation
import Pipeline
import Sessions
import TestSupport
import Testing
import Vocabulary

@testable import Replay

@Suite struct LedgerTests {
  private static let dennis = Samples.dennis.userID
  private static let mara = Samples.mara.userID
  private static let id = SessionID("cs_1")

  /// A book of one session of two with so many revs, the last one final or not.
  private func book(revs: Int, isFinal: Bool = false) throws -> Ledger {
    var ledger = Ledger()
    var story = try CookStory()
    offer(story, to: &ledger)
    for rev in 1..<revs {
      try story.go(isFinal && rev == revs - 1 ? .cancel : .answer, by: Samples.dennis)
      offer(story, to: &ledger)
    }
    return ledger
  }

  private func offer(_ story: CookStory, to ledger: inout Ledger) {
    offer(story.session, at: story.last.storedAt, to: &ledger)
    ledger.accepted(1)
  }

  private func offer(_ session: Session, at moment: UnixTime, to ledger: inout Ledger) {
    if let offer = Ledger.Offer(session) { ledger.offered(offer, at: moment) }
  }

  private func saw(
    _ ledger: inout Ledger, _ user: UserID, _ kind: Ledger.Sighting.Kind, _ rev: Int,
    after seconds: Int = 100, id: String = UUID().uuidString
  ) {
    ledger.saw(
      .init(
        session: Self.id, user: user, kind: kind, rev: rev, at: Samples.noon + .seconds(seconds),
        apnsID: id))
  }

  private func verdict(
    _ ledger: Ledger, dennis: Ledger.Shown? = nil, mara: Ledger.Shown? = nil,
    fate: @escaping (Int) -> RecordedFate? = { _ in nil }
  ) -> LedgerVerdict {
    let verdict = ledger.verdict(
      shown: { _, user in user == Self.dennis ? dennis : mara }, fate: { _, _, rev in fate(rev) })
    // Every entry has exactly one end.
    let sum =
      verdict.delivered + verdict.superseded + verdict.expired + verdict.dead + verdict.cardless
      + verdict.lost
    #expect(sum == verdict.entries)
    return verdict
  }

  @Test func `each state is delivered or superseded by a newer one`() throws {
    var ledger = try book(revs: 4)
    saw(&ledger, Self.mara, .start, 1)
    ledger.startedLocally(Self.id, Self.dennis, at: Samples.noon)
    for rev in [2, 4] { saw(&ledger, Self.mara, .update, rev) }
    saw(&ledger, Self.dennis, .update, 4)
    let verdict = verdict(
      ledger, dennis: .init(rev: 4, isLive: true), mara: .init(rev: 4, isLive: true))
    #expect(verdict.isGood)
    #expect(verdict.accepted == 4 && verdict.entries == 8)
    #expect(verdict.delivered == 4 && verdict.superseded == 4)
  }

  @Test func `what no phone shows is lost`() throws {
    var ledger = try book(revs: 4)
    saw(&ledger, Self.mara, .start, 1)
    saw(&ledger, Self.mara, .update, 2)
    let verdict = verdict(ledger, mara: .init(rev: 2, isLive: true))
    #expect(verdict.lost == 2 && !verdict.isGood)
    #expect(verdict.faults.map(\.what) == ["2 lost: shows rev 2, live; want 4, live"])
    // Dennis never had a card: his app starts it when Mara's began.
    #expect(verdict.cardless == 4)
  }

  @Test func `what APNs took and the phone does not show is lost`() throws {
    var ledger = try book(revs: 3)
    saw(&ledger, Self.mara, .start, 1)
    saw(&ledger, Self.mara, .update, 3)
    #expect(verdict(ledger, mara: .init(rev: 1, isLive: true)).lost == 2)
  }

  @Test func `a card that should have ended is lost`() throws {
    var ledger = try book(revs: 3, isFinal: true)
    saw(&ledger, Self.mara, .start, 1)
    saw(&ledger, Self.mara, .end, 3)
    #expect(verdict(ledger, mara: .init(rev: 3, isLive: false)).isGood)
    #expect(verdict(ledger, mara: .init(rev: 3, isLive: true)).lost == 1)
  }

  @Test func `a session that goes on needs a card, one that is over does not`() throws {
    #expect(verdict(try book(revs: 3)).lost == 3)
    let unreachable = try book(revs: 3).verdict(
      shown: { _, _ in nil }, fate: { _, _, _ in nil }, cardless: [Self.mara])
    #expect(unreachable.isGood && unreachable.cardless == 6)
    let over = verdict(try book(revs: 3, isFinal: true))
    #expect(over.isGood && over.cardless == 6)
  }

  @Test func `the store tells what was expired or dead`() throws {
    var ledger = try book(revs: 4)
    saw(&ledger, Self.mara, .start, 1)
    let verdict = verdict(ledger, mara: .init(rev: 1, isLive: true)) { rev in
      rev == 4 ? .dead : .expired
    }
    #expect(verdict.lost == 0 && verdict.expired == 5 && verdict.dead == 2)
  }

  @Test func `a second start is doubled, the same state once more is not`() throws {
    var ledger = try book(revs: 2)
    saw(&ledger, Self.mara, .start, 1)
    saw(&ledger, Self.mara, .update, 2)
    saw(&ledger, Self.mara, .update, 2)
    var verdict = verdict(ledger, mara: .init(rev: 2, isLive: true))
    #expect(verdict.isGood && verdict.repeated == 1)
    saw(&ledger, Self.mara, .start, 2)
    verdict = self.verdict(ledger, mara: .init(rev: 2, isLive: true))
    #expect(verdict.doubled == 1 && !verdict.isGood)
  }

  @Test func `an older state after a newer one is out of order`() throws {
    var ledger = try book(revs: 3)
    saw(&ledger, Self.mara, .start, 1)
    saw(&ledger, Self.mara, .update, 3)
    saw(&ledger, Self.mara, .update, 2)
    let verdict = verdict(ledger, mara: .init(rev: 3, isLive: true))
    #expect(verdict.outOfOrder == 1 && verdict.lost == 0 && !verdict.isGood)
  }

  @Test func `nothing is due to somebody who left`() throws {
    var ledger = Ledger()
    var story = try CookStory()
    offer(story, to: &ledger)
    try story.go(.leave, by: Samples.mara)
    offer(story, to: &ledger)
    try story.go(.answer, by: Samples.dennis)
    offer(story, to: &ledger)
    saw(&ledger, Self.mara, .start, 1)
    saw(&ledger, Self.mara, .end, 2)
    ledger.startedLocally(Self.id, Self.dennis, at: Samples.noon)
    saw(&ledger, Self.dennis, .update, 3)
    let verdict = verdict(
      ledger, dennis: .init(rev: 3, isLive: true), mara: .init(rev: 2, isLive: false))
    #expect(verdict.isGood && verdict.entries == 5)
  }

  @Test func `a delay counts from the event, unless the phone could not be reached yet`() throws {
    var ledger = try book(revs: 4)
    func delay(_ kind: Ledger.Sighting.Kind, _ rev: Int, _ milliseconds: Int64) -> Ledger.Delay? {
      ledger.saw(
        .init(
          session: Self.id, user: Self.mara, kind: kind, rev: rev,
          at: Samples.noon + .milliseconds(milliseconds), apnsID: nil))
    }
    #expect(delay(.start, 1, 1500) == .direct(.milliseconds(1500)))
    #expect(delay(.update, 2, 1700) == .catchingUp(.milliseconds(700)))
    #expect(delay(.update, 3, 2040) == .direct(.milliseconds(40)))
    #expect(delay(.update, 3, 2050) == nil)
    #expect(delay(.update, 4, 3030) == .direct(.milliseconds(30)))
    #expect(ledger.behind == 0)
  }

  @Test func `what was offered in vain is due to nobody`() throws {
    var ledger = Ledger()
    var story = try CookStory()
    offer(story, to: &ledger)
    saw(&ledger, Self.mara, .start, 1)
    try story.go(.cancel, by: Samples.dennis)
    offer(story.session, at: story.last.storedAt, to: &ledger)
    if let offer = Ledger.Offer(story.session) { ledger.withdrew(offer) }
    #expect(verdict(ledger, mara: .init(rev: 1, isLive: true)).isGood)
  }

  @Test func `a push of strangers changes nothing`() throws {
    var ledger = try book(revs: 1)
    ledger.saw(
      .init(
        session: SessionID("cs_other"), user: Self.mara, kind: .start, rev: 1, at: Samples.noon,
        apnsID: nil))
    #expect(ledger.strangers == 1)
  }
}
