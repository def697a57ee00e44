import Foundation
import HTTPClient
import ServiceRuntime
import Vocabulary

/// Dennis and Jaqueline plan a meal: from the invitation to the decision, or until the session dies
/// because nobody does anything. After each step it waits until both iPhones, and the Android phone
/// that Jaqueline has too, show what `GET` says, and prints their cards.
final class Story {
  private static let dennis = Person(id: "dennis", name: "Dennis", tint: "teal", emoji: "🐢")
  private static let jaqueline = Person(
    id: "jaqueline", name: "Jaqueline", tint: "coral", emoji: "🐠")
  private static let people = [dennis, jaqueline]
  /// How long phones may take to catch up; covers a broker that is away for a while.
  private static let patience: Duration = .seconds(90)

  /// How long the verdict may take to become true once every phone shows the end.
  private static let verdictPatience: Duration = .seconds(10)
  /// Each verdict asks the API as every phone, and a user may ask only so often.
  private static let verdictInterval: Duration = .milliseconds(500)

  private let settings: DemoSettings
  private let times: MutationTimes
  private let stop: StopSignal
  private let phones: SimulatedPhones
  private var callers: [String: Caller] = [:]
  private var session = ""
  private var hasPhones = false
  /// Of Jaqueline's phone, before the session.
  private var soundsBefore = 0
  private var pushBefore: Int64 = 0
  /// How many channels showed the invitation.
  private var channelsShown = 0

  init(settings: DemoSettings, times: MutationTimes, stop: StopSignal) {
    self.settings = settings
    self.times = times
    self.stop = stop
    phones = SimulatedPhones(url: settings.simulatorURL)
  }

  /// - Returns: whether every phone shows what `GET` says.
  func play() throws -> Bool {
    try getPhones()
    pushBefore = try phones.newestPush()
    print("The phones are at \(settings.simulatorURL)/\n")
    try invite()
    if settings.expires { try wait() } else { try decide() }
    try seeGrey()
    return try conclude()
  }

  private func invite() throws {
    soundsBefore = try invitation().sounds
    try step("Dennis plans a meal with Jaqueline") {
      let date = String(MutationTimes.now.rfc3339.prefix(10))
      let answer = try times.measured {
        try caller("dennis").call(
          "POST", "/api/cook-suggest/sessions",
          ["date": .string(date), "with_user_id": "jaqueline"])
      }
      guard case .string(let id)? = answer["id"] else {
        throw CommandFailure(.software, "the API's answer has no id")
      }
      session = id
      try phones.startLocally(session: id, on: "dennis")
    }
    try watch(.seconds(30), "the invitation is not on every channel") { $0.shown == 3 }
    channelsShown = try invitation().shown
    print("    Jaqueline's invitation on \(channelsShown) of 3 channels")
    try show(invitation())
  }

  private func decide() throws {
    try mutate("Jaqueline joins", "jaqueline", "join")
    try mutate("Dennis answers", "dennis", "answers", ["answers": ["hunger": "groß"]])
    try mutate("Dennis is ready", "dennis", "ready", ["ready": true])
    try mutate("Jaqueline answers", "jaqueline", "answers", ["answers": ["hunger": "mittel"]])
    try mutate(
      "Jaqueline is ready, the kitchen thinks and proposes", "jaqueline", "ready", ["ready": true],
      until: "proposed")
    try mutate("Jaqueline picks", "jaqueline", "pick", ["proposal_id": "p2"])
    try mutate("Dennis confirms", "dennis", "confirm", ["proposal_id": "p2"])
    try mutate(
      "Jaqueline confirms, the kitchen serves", "jaqueline", "confirm", ["proposal_id": "p2"],
      until: "decided")
  }

  /// Nobody does anything.
  private func wait() throws {
    try step("Nobody does anything: the session dies at its time", until: "cancelled") {}
  }

  // MARK: The invitation

  private func invitation() throws -> InvitationChannels {
    try phones.invitation(of: Self.jaqueline, to: session)
  }

  private func show(_ invitation: InvitationChannels) {
    for line in invitation.lines { print(line) }
    fflush(nil)
    stop.wait(atMost: settings.pace)
  }

  private func seeGrey() throws {
    print("● The invitation turns grey, and its banner is taken away")
    try watch(Self.patience, "the invitation is not grey") { $0.isGrey }
    try show(invitation())
  }

  /// Returns at the latest after `limit`; what is missing then, the last line says.
  private func watch(
    _ limit: Duration, _ trouble: String, _ isDone: (InvitationChannels) -> Bool
  ) throws {
    let end = ContinuousClock.now + limit
    while !isDone(try invitation()) {
      guard ContinuousClock.now < end, !stop.isRaised else {
        print("  ! \(trouble)")
        return
      }
      stop.wait(atMost: .milliseconds(20))
    }
  }

  private func getPhones() throws {
    guard !hasPhones else { return }
    for person in Self.people {
      let token = try settings.token(user: person.id, now: MutationTimes.now)
      let caller = Caller(baseURL: settings.apiURL, token: token, stop: stop)
      callers[person.id] = caller
      // The phone tells its owner's name too, but only once the API is up; a session made before
      // that would not know it.
      try caller.call("PUT", "/api/me", person.profile)
      try phones.add(person, token: token, apiURL: settings.apiURL)
      if person.id == Self.jaqueline.id {
        try phones.addAndroid(of: person, token: token, apiURL: settings.apiURL)
        try phones.addBrowser(of: person, token: token, apiURL: settings.apiURL)
        if !settings.once {
          print("\(person.name)'s web app is at \(settings.simulatorURL)/app/#token=\(token)")
        }
      }
    }
    hasPhones = true
  }

  private func caller(_ user: String) -> Caller {
    guard let caller = callers[user] else { preconditionFailure("\(user) has no phone") }
    return caller
  }

  // MARK: Steps

  private func mutate(
    _ title: String, _ user: String, _ action: String, _ body: JSONValue? = nil,
    until state: String? = nil
  ) throws {
    try step(title, until: state) {
      _ = try times.measured {
        try caller(user).call(
          "POST", "/api/cook-suggest/sessions/\(session)/\(action)", body ?? [:])
      }
    }
  }

  private func step(_ title: String, until state: String? = nil, _ action: () throws -> Void) throws
  {
    guard !stop.isRaised else { throw CommandFailure(.unavailable, "stopped") }
    print("● \(title)")
    fflush(nil)
    try action()
    try waitForPhones(until: state)
    for person in Self.people { print(try phones.card(of: person, in: session)) }
    print(try phones.androidCardText(of: Self.jaqueline, in: session))
    // Shown as it happens also where the output is a file or a pipe.
    fflush(nil)
    stop.wait(atMost: settings.pace)
  }

  /// Until the session has come to `state` and all phones show it.
  private func waitForPhones(until state: String?) throws {
    let end = ContinuousClock.now + Self.patience
    var lagging = ""
    while ContinuousClock.now < end, !stop.isRaised {
      lagging = try lag(behind: state)
      if lagging.isEmpty { return }
      stop.wait(atMost: .milliseconds(20))
    }
    throw CommandFailure(.software, "waited \(Self.patience) in vain: \(lagging)")
  }

  /// What is not as it should be yet; empty when all is.
  private func lag(behind state: String?) throws -> String {
    for person in Self.people {
      let truth = try caller(person.id).call("GET", "/api/cook-suggest/sessions/\(session)")
      if let state, truth["state"] != .string(state) { return "the session is not \(state)" }
      guard case .integer(let rev)? = truth["rev"] else { return "GET has no rev" }
      guard try phones.rev(of: person, in: session) == Int(rev) else {
        return "\(person.name)'s phone does not show rev \(rev)"
      }
      guard person.id == Self.jaqueline.id else { continue }
      guard try phones.androidRev(of: person, in: session) == Int(rev) else {
        return "\(person.name)'s Android phone does not show rev \(rev)"
      }
    }
    return ""
  }

  // MARK: The end

  private func conclude() throws -> Bool {
    let verdict = try lastVerdict()
    let pushes = try phones.pushes(after: pushBefore, of: session, times: times)
    let milliseconds = pushes.compactMap(\.milliseconds).sorted()
    let answers = Dictionary(grouping: pushes, by: \.answer).mapValues(\.count)
    print("")
    print("pushes: \(pushes.count) (\(counted(answers)))")
    if !milliseconds.isEmpty {
      print(
        "from mutation to push: median \(percentile(milliseconds, 0.5)) ms, "
          + "p99 \(percentile(milliseconds, 0.99)) ms")
    }
    for difference in verdict.complaints { print("  ! \(difference)") }
    let invitation = try invitation()
    let sounds = invitation.sounds - soundsBefore
    let isTrue =
      verdict.isTrue && verdict.androids == 1 && channelsShown == 3 && invitation.isGrey
      && sounds == 1
    let word = isTrue ? "ok" : "NOT OK"
    print(
      "\(word): \(verdict.equal) of \(verdict.compared) cards on \(verdict.phones) phones and "
        + "\(verdict.androids) Android phone equal the truth, \(verdict.starts) start by push, "
        + "\(verdict.doubledStarts) doubled, "
        + "\(verdict.olderShown) older shown, \(pushes.count) pushes; "
        + "invitation on \(channelsShown) of 3 channels, \(sounds) sound, "
        + (invitation.isGrey ? "grey: \(invitation.reason)" : "not grey"))
    return isTrue
  }

  /// The phones' last reports to the API may still be on their way: waits for them.
  private func lastVerdict() throws -> SimulatedPhones.Verdict {
    let end = ContinuousClock.now + Self.verdictPatience
    var verdict = try phones.verdict()
    while !verdict.isTrue, ContinuousClock.now < end, !stop.isRaised {
      stop.wait(atMost: Self.verdictInterval)
      verdict = try phones.verdict()
    }
    return verdict
  }

  private func counted(_ answers: [String: Int]) -> String {
    answers.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
  }

  private func percentile(_ sorted: [Int64], _ share: Double) -> Int64 {
    sorted[min(sorted.count - 1, Int((Double(sorted.count) * share).rounded(.down)))]
  }
}

struct Person: Sendable {
  let id: String
  let name: String
  let tint: String
  let emoji: String

  var profile: JSONValue {
    [
      "name": .string(name), "tint": .string(tint), "emoji": .string(emoji), "locale": "de-DE",
    ]
  }
}
