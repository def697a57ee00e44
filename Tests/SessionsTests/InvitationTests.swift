import Sessions
import Testing
import Vocabulary

private func title(from name: String?, _ language: Language = .german) throws -> String {
  let change = try Session.create(
    id: SessionID("cs_abc"), date: "2026-06-18",
    initiator: Profile(userID: dennis.userID, name: name), partner: jaqueline, at: start,
    limits: limits)
  return change.session.invitation(language: language).title
}

@Suite struct InvitationTests {
  @Test func `the invitation speaks the receiver's language`() throws {
    let session = try Planning().session
    let german = session.invitation(language: .german)
    #expect(german.title == "Plan mit Dennis das Essen")
    #expect(german.body == "Tippe, um mitzuplanen")
    let english = session.invitation(language: .english)
    #expect(english.title == "Plan dinner with Dennis")
    #expect(english.body == "Tap to join in")
  }

  @Test func `the invitation leads to the session and comes once`() throws {
    let invitation = try Planning().session.invitation(language: .german)
    #expect(invitation.link == "/cook-suggest/cs_abc")
    #expect(invitation.dedupeKey == "cs-invite-cs_abc")
    #expect(try Planning().session.invitationDedupeKey == "cs-invite-cs_abc")
    #expect(Invitation.icon == "✨")
  }

  @Test(arguments: [
    ("Dennis 🦊", "Plan mit Dennis das Essen"), ("🐠Jo👨‍👩‍👧 Ann❤️", "Plan mit Jo Ann das Essen"),
    ("Agent 007 #1", "Plan mit Agent 007 #1 das Essen"),
    ("🤖", "Plan mit deinem Partner das Essen"), ("🇩🇪", "Plan mit deinem Partner das Essen"),
  ])
  func `no emoji gets into the title`(name: String, wanted: String) throws {
    #expect(try title(from: name) == wanted)
  }

  @Test func `an initiator without a name is still somebody`() throws {
    #expect(try title(from: nil) == "Plan mit deinem Partner das Essen")
    #expect(try title(from: nil, .english) == "Plan dinner with your partner")
  }
}
