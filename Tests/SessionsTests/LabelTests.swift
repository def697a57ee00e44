import Sessions
import Testing
import Vocabulary

/// What both sides read after the same steps.
struct Sides: Sendable {
  let way: [Step]
  /// German, then English.
  let dennis: (String, String)
  let jaqueline: (String, String)

  init(_ way: [Step], dennis: (String, String), jaqueline: (String, String)) {
    self.way = way
    self.dennis = dennis
    self.jaqueline = jaqueline
  }

  init(_ way: [Step], both: (String, String)) {
    self.init(way, dennis: both, jaqueline: both)
  }
}

private let ended = ("Planung beendet", "Planning ended")
private let threeReady = ("3 Vorschläge bereit", "3 suggestions ready")
private let noAnswer = ("Die Küche antwortet nicht", "The kitchen is not answering")
private let dennisAnswers = ("Dennis füllt aus", "Dennis is answering")
private let jaquelineAnswers = ("Jaqueline füllt aus", "Jaqueline is answering")
private let proposalsTimedOut = Way.generating + [.kitchen(.jobTimedOut(job(3)))]
private let decisionTimedOut = Way.finalizing + [.kitchen(.jobTimedOut(job(6)))]

private let labels: [Sides] = [
  .init(
    [], dennis: ("Jaqueline ist eingeladen", "Jaqueline is invited"), jaqueline: dennisAnswers),
  .init([.by(jaqueline, .join)], dennis: jaquelineAnswers, jaqueline: dennisAnswers),
  .init(
    [.by(jaqueline, .ready(true))], dennis: ("Jaqueline ist bereit", "Jaqueline is ready"),
    jaqueline: dennisAnswers),
  .init(Way.generating, both: ("Die Küche denkt nach …", "The kitchen is thinking …")),
  .init(Way.proposed, both: threeReady),
  .init(
    Way.generating + [.kitchen(.proposals(job(3), [pasta]))],
    both: ("1 Vorschlag bereit", "1 suggestion ready")),
  .init(
    Way.proposed + [.by(dennis, .pick(pasta.id))],
    dennis: ("Warte auf Jaqueline", "Waiting for Jaqueline"),
    jaqueline: ("Vorschlag: Pasta al limone?", "How about Pasta al limone?")),
  .init(
    Way.proposed + [.by(dennis, .pick(pasta.id)), .by(jaqueline, .pick(curry.id))],
    dennis: ("Vorschlag: Linsencurry?", "How about Linsencurry?"),
    jaqueline: ("Vorschlag: Pasta al limone?", "How about Pasta al limone?")),
  .init(
    Way.proposed + [.by(dennis, .confirm(pasta.id)), .by(jaqueline, .pick(curry.id))],
    dennis: ("Warte auf Jaqueline", "Waiting for Jaqueline"),
    jaqueline: ("Vorschlag: Pasta al limone?", "How about Pasta al limone?")),
  .init(Way.finalizing, both: ("Wird angerichtet …", "Being served …")),
  .init(Way.decided, both: ("Pasta al limone", "Pasta al limone")),
  .init(Way.cancelled, both: ended),
  .init(proposalsTimedOut, both: noAnswer),
  .init(
    proposalsTimedOut + [.by(dennis, .answer)], dennis: jaquelineAnswers,
    jaqueline: dennisAnswers),
  .init(decisionTimedOut, both: noAnswer),
  .init(
    [.by(jaqueline, .leave)], dennis: ("Jaqueline ist raus", "Jaqueline left"), jaqueline: ended),
  .init([.by(dennis, .leave)], dennis: ended, jaqueline: ("Dennis ist raus", "Dennis left")),
  .init(
    Way.generating + [.by(jaqueline, .leave)],
    dennis: ("Die Küche denkt nach …", "The kitchen is thinking …"), jaqueline: ended),
  .init(
    Way.proposed + [.by(jaqueline, .leave)], dennis: ("Jaqueline ist raus", "Jaqueline left"),
    jaqueline: ended),
  // Gone before the proposals came: they are the news.
  .init(
    Way.generating + [.by(jaqueline, .leave), .kitchen(.proposals(job(3), dishes))],
    dennis: threeReady, jaqueline: ended),
  .init(
    [
      .by(jaqueline, .leave), .by(dennis, .ready(true)), .kitchen(.proposals(job(3), dishes)),
      .by(dennis, .pick(pasta.id)),
    ], dennis: threeReady, jaqueline: ended),
  .init(
    Way.finalizing + [.by(jaqueline, .leave)], dennis: ("Wird angerichtet …", "Being served …"),
    jaqueline: ended),
  .init(
    Way.finalizing + [.by(jaqueline, .leave), .kitchen(.decision(job(6), title: "Pasta"))],
    dennis: ("Pasta", "Pasta"), jaqueline: ended),
]

private func label(
  _ session: Session, _ profile: Profile, _ language: Language
) -> String {
  Viewpoint(of: session, for: profile.userID, language: language).statusLabel
}

@Suite struct LabelTests {
  @Test(arguments: labels)
  func `each side reads its own label in its language`(row: Sides) throws {
    let session = try Planning(through: row.way).session
    #expect(label(session, dennis, .german) == row.dennis.0)
    #expect(label(session, dennis, .english) == row.dennis.1)
    #expect(label(session, jaqueline, .german) == row.jaqueline.0)
    #expect(label(session, jaqueline, .english) == row.jaqueline.1)
  }

  @Test(
    arguments: [
      ([], "Dein Partner ist eingeladen", "Your partner is invited"),
      ([Step.by(jaqueline, .join)], "Dein Partner füllt aus", "Your partner is answering"),
      ([.by(jaqueline, .ready(true))], "Dein Partner ist bereit", "Your partner is ready"),
      ([.by(jaqueline, .leave)], "Dein Partner ist raus", "Your partner left"),
      (
        Way.proposed + [.by(dennis, .pick(pasta.id))], "Warte auf deinen Partner",
        "Waiting for your partner"
      ),
    ] as [([Step], String, String)])
  func `a partner without a name is still somebody`(
    way: [Step], german: String, english: String
  ) throws {
    for name in [nil, "", " "] {
      let nameless = Profile(userID: jaqueline.userID, name: name)
      let session = try Planning(with: nameless, through: way).session
      #expect(label(session, dennis, .german) == german)
      #expect(label(session, dennis, .english) == english)
    }
  }

  @Test func `alone there is nobody to wait for`() throws {
    let answering = try Planning(with: nil).session
    #expect(label(answering, dennis, .german) == "Du füllst aus")
    #expect(label(answering, dennis, .english) == "You are answering")
    let picked = try Planning(
      with: nil,
      through: [
        .by(dennis, .ready(true)), .kitchen(.proposals(job(2), dishes)),
        .by(dennis, .pick(pasta.id)),
      ]
    ).session
    #expect(label(picked, dennis, .german) == "3 Vorschläge bereit")
  }

  @Test func `what stands in a title is never filled in`() throws {
    let odd = Proposal(id: ProposalID("p1"), title: "{title} {Partner} {N}?")
    let session = try Planning(
      through: Way.generating
        + [.kitchen(.proposals(job(3), [odd])), .by(dennis, .pick(odd.id))]
    ).session
    #expect(label(session, jaqueline, .german) == "Vorschlag: {title} {Partner} {N}??")
  }

  @Test func `three dots are one character with a space before it`() throws {
    for language in Language.allCases {
      for way in [Way.generating, Way.finalizing] {
        let text = label(try Planning(through: way).session, dennis, language)
        #expect(text.hasSuffix(" \u{2026}"), "\(text)")
      }
    }
  }

  @Test(
    arguments: [
      (nil, Language.german), ("", .german), ("de", .german), ("de-DE", .german), ("fr", .german),
      ("en", .english), ("en-GB", .english), ("en_US", .english), ("EN", .english),
      ("enm", .german),
    ] as [(String?, Language)])
  func `the receiver's locale picks the language`(locale: String?, language: Language) {
    #expect(Language(locale: locale) == language)
  }
}
