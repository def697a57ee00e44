import Foundation
import Pushes
import Sessions
import TestSupport
import Testing
import Vocabulary

@testable import Pipeline

/// Starts are counted by token, and iOS replaces a push-to-start token at times.
@Suite struct EarlierStartTests {
  private static let context = ContextKey("activity:order-1:u_mara")
  private static let session = SessionID("activity:order-1")
  private static let user = Samples.mara.userID

  private let store = InMemoryStore()

  private func found(
    device: String? = "phone", channelIn environment: PushEnvironment? = nil
  ) throws -> EarlierStart? {
    let channel = environment.map {
      BroadcastChannel(
        id: "dHN0LXNyY2g=", storesNewest: true, environment: $0, bundleID: Samples.bundle,
        isOfConfiguredBundle: true)
    }
    let state = ActivityState(
      contextKey: Self.context, sessionID: Self.session, userID: Self.user, rev: 1, event: .update,
      contentState: Data("{}".utf8), attributesType: "ShinyActivityAttributes",
      attributes: Data("{}".utf8), alertTitle: "a", alertBody: "b", staleAt: nil, dismissAt: nil,
      deadline: Samples.noon + .seconds(9000), causedAt: Samples.noon, traceparent: nil,
      extras: ActivityState.Extras(channel: channel))
    let registration = Samples.registration(
      Samples.token(2), of: Self.user, .pushToStart, device: device)
    let job = PushJob(
      id: "0190f3a2-0000-8000-8000-0000000000ab", event: .start, sessionID: Self.session,
      userID: Self.user, contextKey: Self.context, rev: 1, token: Samples.token(2),
      environment: .production, bundleID: nil, collapseID: nil, dedupeKey: nil,
      deadline: Samples.noon + .seconds(9000), causedAt: Samples.noon, traceparent: nil,
      payload: Data())
    return try store.write { rows in
      try rows.save([state])
      return try EarlierStart.find(before: job, to: registration, in: rows, now: Samples.noon)
    }
  }

  /// A start went to another token so many seconds ago; without an answer its sender holds it until
  /// `heldUntil`.
  private func started(
    _ seconds: Int64, token: Int = 1, device: String? = "phone", heldUntil: UnixTime? = nil
  ) throws {
    let moment = Samples.noon - .seconds(seconds)
    try store.write {
      try $0.save(
        Start(
          sessionID: Self.session, token: Samples.token(token), contextKey: Self.context,
          firstAskedAt: moment, userID: Self.user, deviceID: device, cardsMax: 1,
          claimedUntil: heldUntil, acceptedAt: heldUntil == nil ? moment : nil))
    }
  }

  private func registerUnbound(_ seconds: Int64, device: String) throws {
    let moment = Samples.noon - .seconds(seconds)
    try store.write {
      try $0.register(
        Samples.registration(Samples.token(9), of: Self.user, .update, device: device, at: moment))
    }
  }

  @Test func `a phone that nobody started has no card`() throws {
    #expect(try found() == nil)
    // What its own token was sent, the row of that start tells.
    try started(1, token: 2)
    #expect(try found() == nil)
    try started(1, device: "tablet")
    #expect(try found() == nil)
  }

  @Test func `a card that the token before was sent is waited for, and then counts as lost`() throws
  {
    try started(599)
    #expect(try found() == .unheard(until: Samples.noon + .seconds(1)))
    #expect(try found(device: "tablet") == nil)
    #expect(try found(device: nil) == nil)
  }

  /// APNs takes starts for a dead token too; the app then asks for another one.
  @Test func `a start that nothing was heard of for long is one no more`() throws {
    try started(600)
    #expect(try found() == nil)
    try registerUnbound(601, device: "phone")
    #expect(try found() == nil, "it came before")
  }

  @Test(
    arguments: [
      (1, true), (25, true), (600, true), (660, true), (0, false), (661, false),
    ] as [(Int64, Bool)])
  func `one without an answer is waited for as long as its sender holds it`(
    seconds: Int64, isWaitedFor: Bool
  ) throws {
    let until = Samples.noon + .seconds(seconds)
    try started(9, heldUntil: until)
    #expect(try found() == (isWaitedFor ? .unheard(until: until) : nil))
    // Whether it will ever listen nobody knows.
    #expect(try found(channelIn: .production) == (isWaitedFor ? .unheard(until: until) : nil))
  }

  @Test func `an unbound token of the phone may be that of its card`() throws {
    try started(600)
    try registerUnbound(500, device: "tablet")
    #expect(try found() == nil)
    try registerUnbound(500, device: "phone")
    #expect(try found() == .unbound)
  }

  @Test func `a card that listens to a channel is heard of by nothing but its start`() throws {
    try started(7200)
    #expect(try found(channelIn: .production) == .listens)
    #expect(try found(channelIn: .sandbox) == nil)
  }
}
