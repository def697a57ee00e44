import Foundation
import Pushes
import Sessions
import TestSupport
import Testing
import Vocabulary

@testable import Pipeline

@Suite struct SendDecisionTests {
  private static let noon = Samples.noon
  private static let context = ContextKey("c")

  private static func job(_ event: PushJob.Event, rev: Int = 5, deadline: UnixTime? = nil)
    -> PushJob
  {
    PushJob(
      id: "0190f3a2-0000-8000-8000-0000000000ab", event: event, sessionID: SessionID("cs_1"),
      userID: Samples.mara.userID, contextKey: isLiveActivity(event) ? context : nil, rev: rev,
      token: Samples.token(1), environment: .production, bundleID: nil, collapseID: nil,
      dedupeKey: isLiveActivity(event) ? nil : "d", deadline: deadline ?? noon + .seconds(1),
      causedAt: noon, traceparent: nil, payload: Data())
  }

  private static func isLiveActivity(_ event: PushJob.Event) -> Bool { kind(event) != .alert }

  private static func row(
    _ kind: TokenKind, user: UserID = Samples.mara.userID, context: ContextKey? = context
  ) -> Registration {
    Samples.registration(
      Samples.token(1), of: user, kind, context: kind == .update ? context : nil, device: "device")
  }

  private static func knowledge(_ rows: [Registration]) -> SendKnowledge {
    var known = SendKnowledge()
    known.standing = PushStanding(registrations: rows, newestRev: 5)
    return known
  }

  private static func start(claimed: UnixTime? = nil, accepted: UnixTime? = nil) -> Start {
    Start(
      sessionID: SessionID("cs_1"), token: Samples.token(1), contextKey: context,
      firstAskedAt: noon, claimedUntil: claimed, acceptedAt: accepted)
  }

  /// An update token that this device registered.
  private static func card(on device: String?) -> Registration {
    Samples.registration(
      Samples.token(2), of: Samples.mara.userID, .update, context: context, device: device)
  }

  private static func kind(_ event: PushJob.Event) -> TokenKind {
    switch event {
    case .alert, .resolve: .alert
    case .start: .pushToStart
    case .update, .end: .update
    }
  }

  struct Row: CustomTestStringConvertible {
    let testDescription: String
    let event: PushJob.Event
    let change: @Sendable (inout SendKnowledge) -> Void
    /// Nil: it is sent.
    let drop: Disposition?
  }

  static let table: [Row] = [
    Row(testDescription: "nothing is newer", event: .update, change: { _ in }, drop: nil),
    Row(testDescription: "an end goes too", event: .end, change: { _ in }, drop: nil),
    Row(
      testDescription: "nothing is known of the state", event: .update,
      change: { $0.standing.newestRev = nil }, drop: nil),
    Row(
      testDescription: "a newer state is known", event: .update,
      change: { $0.standing.newestRev = 6 },
      drop: .superseded(because: "rev 6 is newer than 5")),
    Row(
      testDescription: "a newer state is known: end", event: .end,
      change: { $0.standing.newestRev = 6 },
      drop: .superseded(because: "rev 6 is newer than 5")),
    Row(
      testDescription: "the same rev was delivered", event: .update,
      change: { $0.standing.deliveredRev = 5 },
      drop: .superseded(because: "rev 5 was delivered already")),
    Row(
      testDescription: "an older rev was delivered", event: .update,
      change: { $0.standing.deliveredRev = 4 }, drop: nil),
    Row(
      testDescription: "the token is gone", event: .update,
      change: { $0.standing.registrations = [] },
      drop: .superseded(because: "the token is gone from the registry")),
    Row(testDescription: "a start that nobody made", event: .start, change: { _ in }, drop: nil),
    Row(
      testDescription: "a start of which only the wish is known", event: .start,
      change: { $0.start = start() }, drop: nil),
    Row(
      testDescription: "a start that was accepted", event: .start,
      change: { $0.start = start(accepted: noon) },
      drop: .superseded(because: "started already")),
    Row(
      testDescription: "a start that another sender holds", event: .start,
      change: { $0.start = start(claimed: noon + .milliseconds(1)) },
      drop: .retry(notBefore: .seconds(5), because: "another sender holds this start")),
    Row(
      testDescription: "a start that was taken while this look waited", event: .start,
      change: { $0.start = start(claimed: noon + APNsSender.startHold.lasts + .milliseconds(40)) },
      drop: .retry(notBefore: .seconds(5), because: "another sender holds this start")),
    Row(
      testDescription: "a start that was taken before the clock was set back", event: .start,
      change: { $0.start = start(claimed: noon + .seconds(3600)) }, drop: nil),
    Row(
      testDescription: "a start that its sender has held too long", event: .start,
      change: { $0.start = start(claimed: noon) }, drop: nil),
    Row(
      testDescription: "a start to a phone that has the card", event: .start,
      change: { $0.cards = [card(on: "device")] },
      drop: .superseded(because: "the phone has this card")),
    Row(
      testDescription: "a start of a card that another phone has", event: .start,
      change: { $0.cards = [card(on: "tablet")] }, drop: nil),
    Row(
      testDescription: "a start of a card of which nobody says where it is", event: .start,
      change: { $0.cards = [card(on: nil)] }, drop: nil),
    Row(
      testDescription: "a start of a card that listens to a channel already", event: .start,
      change: { $0.earlierStart = .listens },
      drop: .superseded(because: "the phone has this card")),
    Row(
      testDescription: "a start to a phone with an unbound token", event: .start,
      change: { $0.earlierStart = .unbound },
      drop: .superseded(because: "an unbound update token of the phone may be this card's")),
    Row(
      testDescription: "a start that went to the token before, a moment ago", event: .start,
      change: { $0.earlierStart = .unheard(until: noon + .seconds(9)) },
      drop: .retry(
        notBefore: .seconds(9), because: "the token before was sent this card a moment ago")),
    Row(
      testDescription: "a start of a dismissed card", event: .start,
      change: { $0.isDismissed = true },
      drop: .superseded(because: "the phone dismissed this card")),
    Row(
      testDescription: "a start of an older state", event: .start,
      change: { $0.standing.newestRev = 6 },
      drop: .superseded(because: "rev 6 is newer than 5")),
    Row(testDescription: "an alert", event: .alert, change: { _ in }, drop: nil),
    Row(
      testDescription: "an alert of a resolved notification", event: .alert,
      change: { $0.isResolved = true }, drop: .superseded(because: "the notification is resolved")),
    Row(
      testDescription: "an alert that was delivered", event: .alert,
      change: { $0.isAccepted = true },
      drop: .superseded(because: "delivered already")),
    Row(
      testDescription: "what takes back an alert", event: .resolve,
      change: { $0.isResolved = true }, drop: nil),
    Row(
      testDescription: "what took back an alert", event: .resolve,
      change: { $0.isAccepted = true },
      drop: .superseded(because: "delivered already")),
  ]

  @Test(arguments: table)
  func `what is no longer the newest or has no reason is not sent`(row: Row) {
    let registration = Self.row(Self.kind(row.event))
    var known = Self.knowledge([registration])
    row.change(&known)
    let decision = SendDecision(Self.job(row.event), knowing: known, now: Self.noon)
    #expect(decision == row.drop.map(SendDecision.drop) ?? .send(registration))
  }

  @Test(arguments: PushJob.Event.allCases)
  func `a deadline that has come is too late, one that is to come is not`(event: PushJob.Event) {
    let known = Self.knowledge([Self.row(Self.kind(event))])
    let late = SendDecision(
      Self.job(event, deadline: Self.noon), knowing: known, now: Self.noon)
    #expect(late == .drop(.expired))
    let job = Self.job(event, deadline: Self.noon + .milliseconds(1))
    guard case .send = SendDecision(job, knowing: known, now: Self.noon) else {
      Issue.record("not sent")
      return
    }
  }

  @Test(arguments: [
    (PushJob.Event.update, row(.alert)), (.update, row(.pushToStart)),
    (.update, row(.update, user: UserID("u_other"))),
    (.update, row(.update, context: ContextKey("other"))), (.end, row(.pushToStart)),
    (.start, row(.update)), (.start, row(.alert)), (.alert, row(.update)),
    (.alert, row(.alert, user: UserID("u_other"))), (.resolve, row(.update)),
    (.resolve, row(.alert, user: UserID("u_other"))),
  ])
  func `a token that now serves something else does not get it`(
    event: PushJob.Event, registration: Registration
  ) {
    let known = Self.knowledge([registration])
    let decision = SendDecision(Self.job(event), knowing: known, now: Self.noon)
    #expect(decision == .drop(.superseded(because: "the token is gone from the registry")))
  }
}
