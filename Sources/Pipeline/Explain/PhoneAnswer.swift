import Pushes
import Sessions
import Vocabulary

/// Why does this person's phone not show the newest rev? Follows the message from the API on and
/// stops at the first place it has not passed. Pure.
struct PhoneAnswer {
  /// How long an event may be on its way to the broker and nothing is wrong.
  private static let confirmPatience = Duration.seconds(2)

  private let user: UserID
  private let history: SessionHistory
  private let now: UnixTime
  private let newest: Int

  init(for user: UserID, _ history: SessionHistory, now: UnixTime) {
    self.user = user
    self.history = history
    self.now = now
    newest = history.newestRev
  }

  var answer: Timeline.Answer {
    if let shown = shown {
      return Timeline.Answer(
        userID: user, showsNewest: true,
        text: "it does: the phone reported rev \(shown.rev ?? newest) \(ago(shown.reportedAt)).")
    }
    return Timeline.Answer(userID: user, showsNewest: false, text: reason + ".")
  }

  // MARK: What the phone said

  private var context: ContextKey? { history.contextKey(of: user) }
  private var state: ActivityState? { context.flatMap { history.states[$0] } }
  private var reports: [PhoneReport] {
    // Gone is what the sender concludes, and no word of the phone's.
    history.reports.filter { $0.contextKey == context && $0.state != .gone }
  }
  /// What the phone should show: a card that was ended stays so while others go on.
  private var wanted: Int { state?.event == .end ? state?.rev ?? newest : newest }

  /// The report that says so, if any.
  private var shown: PhoneReport? {
    guard let last = reports.last, last.state != .dismissed, let rev = last.rev, rev >= wanted
    else { return nil }
    return last
  }

  // MARK: The way of the message

  private var reason: String {
    if history.session?.isSolo == true {
      return "nothing is pushed: nobody was invited, and the app runs its own card"
    }
    if let waiting = history.mutations.last(where: { history.unpublished.contains($0.eventID) }) {
      let waited = now - waiting.acceptedAt
      return "the event of rev \(waiting.rev) has waited in the outbox for \(Spans.text(waited)): "
        + (waited < Self.confirmPatience ? "look again in a moment" : "the broker does not take it")
    }
    if let context, history.dismissed.contains(context) {
      let moment = reports.first { $0.state == .dismissed }?.reportedAt
      return "the phone dismissed this card\(moment.map { " " + ago($0) } ?? "")"
        + ", and it is not started again"
    }
    guard let state else { return "\(unbuilt); no state is stored for \(user)" }
    guard state.rev >= wanted else { return "\(unbuilt); the newest stored is rev \(state.rev)" }
    return pushed(state)
  }

  private var unbuilt: String {
    let last = history.builds.last { $0.userID == user && $0.rev == newest }
    switch last?.outcome {
    case .expired: return "the event of rev \(newest) reached the builder after its deadline"
    case .dead: return "rev \(newest) fits no push: \(last?.reason ?? "its event is dead")"
    default: return "the builder has not worked on rev \(newest) yet"
    }
  }

  private func pushed(_ state: ActivityState) -> String {
    let tokens = history.tokens.filter {
      $0.registration.kind == .update && $0.registration.contextKey == state.contextKey
    }
    let live = tokens.filter { $0.prunedAt == nil }
    if let behind = live.first(where: { $0.deliveredRev ?? 0 < state.rev }) {
      return undelivered(state, to: behind.registration.token.fingerprint)
    }
    let androids = history.androids.filter {
      $0.row.registration.userID == user && $0.row.prunedAt == nil
    }
    if let behind = androids.first(where: { $0.delivered[state.contextKey] ?? 0 < state.rev }) {
      return undelivered(state, to: behind.row.registration.token.fingerprint)
    }
    // Whoever has an iPhone too may look at that one.
    guard !live.isEmpty || !androids.isEmpty && !hasStartTokens else {
      return noToken(state, pruned: tokens)
    }
    let service = live.isEmpty ? "FCM" : "APNs"
    let accepted = history.deliveries.last {
      $0.contextKey == state.contextKey && $0.rev >= state.rev && $0.status == 200
    }
    let said = reports.last.map { report in
      "; the last it said, \(ago(report.reportedAt)), was "
        + (report.rev.map { "rev \($0)" } ?? report.state.rawValue)
    }
    return "\(service) accepted rev \(state.rev)\(accepted.map { " " + ago($0.settledAt) } ?? "")"
      + ": the phone is offline, \(live.isEmpty ? "" : "out of budget, ")or has not reported"
      + (said ?? "")
  }

  private func undelivered(_ state: ActivityState, to fingerprint: String) -> String {
    let last = history.deliveries.last {
      $0.tokenFingerprint == fingerprint && $0.rev == state.rev && $0.event != "start"
    }
    guard let last else {
      return "the push of rev \(state.rev) to \(fingerprint) waits for the sender"
    }
    return "the push of rev \(state.rev) to \(fingerprint) did not get through, "
      + "\(ago(last.settledAt)): \(RecordWords.outcome(of: last))"
  }

  // MARK: Without an update token

  private func noToken(_ state: ActivityState, pruned: [TokenRow]) -> String {
    if let row = pruned.max(by: { $0.prunedAt ?? now < $1.prunedAt ?? now }) {
      return "its update token \(row.registration.token.fingerprint) was pruned "
        + "(\(row.prunedBecause ?? "without a reason")), and no newer one is registered"
    }
    if state.event == .end { return "no update token was ever registered: no card is known there" }
    guard state.attributes != nil else {
      return "no update token is registered, and its app starts this card itself"
    }
    if let start = history.starts.first(where: {
      $0.contextKey == state.contextKey && $0.acceptedAt != nil
    }), let moment = start.acceptedAt {
      let suspicion =
        now - moment < Start.heardOfWithin
        ? "" : ": it was forced to quit, or its push-to-start token is dead and iOS gives another"
      return "APNs accepted the card's start \(ago(moment)), "
        + "and the app has not registered its update token yet\(suspicion)"
    }
    let last = history.deliveries.last { $0.contextKey == state.contextKey && $0.event == "start" }
    if let last {
      return "the card was not started, \(ago(last.settledAt)): \(RecordWords.outcome(of: last))"
    }
    if hasStartTokens { return "the card's start waits for the sender" }
    if let dead = startTokens.last {
      return "the card cannot be started: push-to-start token "
        + "\(dead.registration.token.fingerprint) was pruned "
        + "(\(dead.prunedBecause ?? "without a reason"))"
    }
    if let gone = history.androids.last(where: { $0.row.registration.userID == user }) {
      return "its Android phone's token \(gone.row.registration.token.fingerprint) was pruned "
        + "(\(gone.row.prunedBecause ?? "without a reason")), and no newer one is registered"
    }
    return "no token registered: the card cannot be started"
  }

  private var startTokens: [TokenRow] {
    history.tokens.filter {
      $0.registration.kind == .pushToStart && $0.registration.userID == user
    }
  }

  private var hasStartTokens: Bool { startTokens.contains { $0.prunedAt == nil } }

  private func ago(_ moment: UnixTime) -> String { "\(Spans.text(now - moment)) ago" }
}
