import ActivityContracts
import Sessions
import Testing
import Vocabulary

private func view(_ session: Session, _ profile: Profile) -> Viewpoint {
  Viewpoint(of: session, for: profile.userID, language: .german)
}

@Suite struct ViewpointTests {
  @Test(
    arguments: [
      ([], "answers", "answers"),
      ([Step.by(dennis, .ready(true))], nil, "answers"),
      ([.by(dennis, .leave)], nil, "answers"),
      (Way.generating, nil, nil),
      (Way.proposed, "proposals", "proposals"),
      (Way.proposed + [.by(dennis, .pick(pasta.id))], "proposals", "confirm"),
      (Way.proposed + [.by(dennis, .confirm(pasta.id))], nil, "confirm"),
      (
        Way.proposed + [.by(dennis, .confirm(pasta.id)), .by(jaqueline, .pick(curry.id))], nil,
        "confirm"
      ),
      (Way.proposed + [.by(dennis, .pick(pasta.id)), .by(dennis, .leave)], nil, "proposals"),
      (Way.finalizing, nil, nil), (Way.decided, nil, nil), (Way.cancelled, nil, nil),
      (Way.generating + [.kitchen(.jobTimedOut(job(3)))], "answers", "answers"),
      (Way.finalizing + [.kitchen(.jobTimedOut(job(6)))], "confirm", "confirm"),
    ] as [([Step], String?, String?)])
  func `a tap leads each side to its step`(
    way: [Step], forDennis: String?, forJaqueline: String?
  ) throws {
    let session = try Planning(through: way).session
    #expect(view(session, dennis).deepLinkStep == forDennis)
    #expect(view(session, jaqueline).deepLinkStep == forJaqueline)
  }

  @Test func `the content state is the contract's, from each side`() throws {
    let session = try Planning(
      through: Way.proposed + [.by(dennis, .pick(curry.id))]
    ).session
    #expect(
      session.contentState(for: jaqueline.userID, language: .german)
        == .init(
          state: "proposed", statusLabel: "Vorschlag: Linsencurry?", deepLinkStep: "confirm",
          proposalCount: 3, partnerPickTitle: "Linsencurry", partnerReady: true,
          decidedTitle: nil, updatedAt: "2026-06-18 19:12:03", rev: 5, ended: nil))
    #expect(
      session.contentState(for: dennis.userID, language: .english)
        == .init(
          state: "proposed", statusLabel: "Waiting for Jaqueline", deepLinkStep: "proposals",
          proposalCount: 3, partnerPickTitle: nil, partnerReady: true, decidedTitle: nil,
          updatedAt: "2026-06-18 19:12:03", rev: 5, ended: nil))
  }

  @Test func `only the partner's ready counts`() throws {
    let session = try Planning(through: [.by(dennis, .ready(true))]).session
    #expect(!view(session, dennis).partnerReady)
    #expect(view(session, jaqueline).partnerReady)
  }

  @Test func `decided and cancelled have ended, all else has not`() throws {
    let decided = try Planning(through: Way.decided).session
    for profile in [dennis, jaqueline] {
      let state = decided.contentState(for: profile.userID, language: .german)
      #expect(state.ended == true)
      #expect(state.state == "decided")
      #expect(state.decidedTitle == "Pasta al limone")
    }
    #expect(view(try Planning(through: Way.cancelled).session, dennis).ended == true)
    for way in [[], Way.generating, Way.proposed, Way.finalizing] {
      #expect(view(try Planning(through: way).session, dennis).ended == nil)
    }
  }

  @Test func `attributes name the other one`() throws {
    let session = try Planning().session
    #expect(
      session.attributes(for: jaqueline.userID)
        == .init(
          sessionId: "cs_abc", date: "2026-06-18", partnerName: "Dennis", partnerTint: "teal",
          partnerEmoji: "🦊"))
    #expect(session.attributes(for: dennis.userID).partnerName == "Jaqueline")
    #expect(session.contextKey(for: dennis.userID).text == "cooksuggest:cs_abc:u_dennis")
  }

  @Test func `a leaver's card has ended while the session goes on`() throws {
    let session = try Planning(
      through: Way.proposed + [.by(jaqueline, .pick(curry.id)), .by(dennis, .leave)]
    ).session
    #expect(session.state == .proposed)
    #expect(
      session.contentState(for: dennis.userID, language: .german)
        == .init(
          state: "cancelled", statusLabel: "Planung beendet", deepLinkStep: nil, proposalCount: 3,
          partnerPickTitle: nil, partnerReady: false, decidedTitle: nil,
          updatedAt: "2026-06-18 19:12:03", rev: 6, ended: true))
    #expect(session.attributes(for: dennis.userID).partnerName == nil)
  }

  @Test func `a leaver is not told what the others decided`() throws {
    let session = try Planning(
      through: Way.finalizing
        + [.by(jaqueline, .leave), .kitchen(.decision(job(6), title: "Pasta"))]
    ).session
    let state = session.contentState(for: jaqueline.userID, language: .german)
    #expect(state.state == "cancelled")
    #expect(state.decidedTitle == nil)
    #expect(state.ended == true)
    #expect(session.contentState(for: dennis.userID, language: .german).decidedTitle == "Pasta")
  }

  @Test(arguments: [nil, jaqueline])
  func `without anybody to be the partner its fields are null`(partner: Profile?) throws {
    let way: [Step] = partner.map { [.by($0, .ready(true)), .by($0, .leave)] } ?? []
    let session = try Planning(with: partner, through: way).session
    let attributes = session.attributes(for: dennis.userID)
    #expect(attributes.partnerName == nil)
    #expect(attributes.partnerTint == nil)
    #expect(attributes.partnerEmoji == nil)
    let state = session.contentState(for: dennis.userID, language: .german)
    #expect(state.partnerPickTitle == nil)
    #expect(!state.partnerReady)
    #expect(state.ended == nil)
  }

  @Test func `a stranger sees an ended card`() throws {
    let state = try Planning().session.contentState(for: stranger, language: .german)
    #expect(state.ended == true)
    #expect(state.statusLabel == "Planung beendet")
  }
}
