import Pipeline
import Vocabulary

/// What became of everything that was accepted, in the style of a Jepsen checker. Pure: from what
/// the players were told, what the store keeps, and what came to the phones.
struct LedgerCheck {
  /// What the store keeps of one session.
  struct Trace {
    let id: String
    let mutations: [MutationRecord]
    let builds: [BuildRecord]
    let deliveries: [DeliveryRecord]
  }

  /// How one accepted mutation ended.
  enum End: String, Hashable, CaseIterable {
    case delivered, superseded, expired, dead
    /// Nobody had a card that could show it.
    case untold
  }

  private(set) var findings: [String] = []
  /// What the store keeps of each session that a finding names.
  private(set) var stories: [String] = []
  private(set) var accepted = 0
  private(set) var refused = 0
  private(set) var unknown = 0
  /// Unknown ones that did happen.
  private(set) var recovered = 0
  private(set) var lost = 0
  /// Nobody asked for it.
  private(set) var unexpected = 0
  /// One effect under two ids.
  private(set) var doubled = 0
  private(set) var doubledStarts = 0
  /// The same push with the same id: a repetition that is known as one.
  private(set) var repeated = 0
  private(set) var outOfOrder = 0
  /// Two pushes of one second that the network turned round: the exception that the README names.
  private(set) var turnedRound = 0
  /// An older state with an older stamp, which a phone does not look at.
  private(set) var overtaken = 0
  private(set) var ends: [End: Int] = [:]

  init(calls: [PlayedCall], traces: [Trace], pushes: [ReceivedPush]) {
    count(calls)
    let bySession = Dictionary(grouping: calls, by: \.session)
    let opened = calls.filter { $0.session.isEmpty && $0.outcome == .unknown }
    for trace in traces {
      let known = bySession[trace.id] ?? []
      // An opening without an answer has no session's name; any such one of this person fits.
      match(trace, known, opened.filter { $0.user == trace.mutations.first?.userID?.text })
    }
    for session in Set(bySession.keys).subtracting(traces.map(\.id)) where !session.isEmpty {
      lost += bySession[session]?.count ?? 0
      findings.append("lost: nothing is known of session \(session)")
    }
    let delivered = Dictionary(grouping: pushes.filter(\.isTaken)) { $0.session ?? "" }
    for trace in traces { close(trace, delivered[trace.id] ?? []) }
    findDoubled(pushes)
    findOutOfOrder(pushes)
    stories = traces.filter { trace in findings.contains { $0.contains(trace.id) } }
      .map { "\($0.id):\n\($0.story)" }
  }

  // MARK: What was accepted

  private mutating func count(_ calls: [PlayedCall]) {
    for call in calls {
      switch call.outcome {
      case .accepted: accepted += 1
      case .refused: refused += 1
      case .unknown: unknown += 1
      }
    }
  }

  private static let ofTheClock: Set<String> = ["expire", "job_timeout"]

  /// Each rev is somebody's: of a call that was told so, or of one that had no answer.
  private mutating func match(_ trace: Trace, _ calls: [PlayedCall], _ openings: [PlayedCall]) {
    var unanswered = calls.filter { $0.outcome == .unknown } + openings
    let byRev = Dictionary(trace.mutations.map { ($0.rev, $0) }) { first, _ in first }
    var claimed: Set<Int> = []
    var unclaimed: [(call: PlayedCall, rev: Int)] = []
    for call in calls {
      guard case .accepted(let rev, let before) = call.outcome, rev > before else { continue }
      if let made = byRev[rev], made.isOf(call), !claimed.contains(rev) {
        claimed.insert(rev)
      } else {
        unclaimed.append((call, rev))
      }
    }
    var late: Set<Int> = []
    for made in trace.mutations where !claimed.contains(made.rev) {
      if Self.ofTheClock.contains(made.mutation) {
        late.insert(made.rev)
      } else if let place = unanswered.firstIndex(where: made.isOf) {
        unanswered.remove(at: place)
        recovered += 1
        late.insert(made.rev)
      } else {
        unexpected += 1
        findings.append("unexpected: \(trace.id) rev \(made.rev), \(made.mutation)")
      }
    }
    // Told a rev that an unanswered call had made a moment before: it changed nothing itself.
    for (call, rev) in unclaimed where !late.contains(rev) {
      lost += 1
      findings.append("lost: \(call.user) was told rev \(rev) of \(trace.id), \(call.mutation)")
    }
    let revs = trace.mutations.map(\.rev)
    if revs != Array(1...max(1, revs.count)) {
      lost += 1
      findings.append("lost: the revs of \(trace.id) are \(revs)")
    }
  }

  // MARK: How it ended

  private mutating func close(_ trace: Trace, _ pushes: [ReceivedPush]) {
    let newestShown = pushes.compactMap(\.rev).max() ?? 0
    for made in trace.mutations {
      let builds = trace.builds.filter { $0.rev == made.rev }
      let jobs = trace.deliveries.filter { $0.rev == made.rev && $0.event != "alert" }
      let end: End
      if pushes.contains(where: { $0.rev == made.rev }) {
        end = .delivered
      } else if newestShown > made.rev, !builds.isEmpty {
        end = .superseded
      } else if builds.contains(where: { $0.outcome == .expired })
        || jobs.contains(where: { $0.consequence == .expired })
      {
        end = .expired
      } else if builds.contains(where: { $0.outcome == .dead })
        || jobs.contains(where: { $0.consequence == .dead })
      {
        end = .dead
      } else if !builds.isEmpty, builds.allSatisfy({ $0.updateJobs + $0.startJobs == 0 }) {
        end = .untold
      } else {
        lost += 1
        findings.append("lost: \(trace.id) rev \(made.rev) came to no end")
        continue
      }
      ends[end, default: 0] += 1
    }
  }

  // MARK: What came to the phones

  private mutating func findDoubled(_ pushes: [ReceivedPush]) {
    struct Effect: Hashable {
      let phone: String
      let token: String
      let type: String
      let event: String?
      let session: String
      let collapseID: String?
      let rev: Int?

      var kind: String { event ?? type }
    }
    let shown = pushes.filter { $0.isTaken && $0.type != "background" }
    let effects = Dictionary(grouping: shown) { push in
      // Whatever rev a start carries, it starts the same card.
      Effect(
        phone: push.phone, token: push.token, type: push.type, event: push.event,
        session: push.session ?? "", collapseID: push.collapseID,
        rev: push.event == "start" ? nil : push.rev)
    }
    for (effect, pushes) in effects {
      let ids = Set(pushes.map(\.id))
      repeated += pushes.count - ids.count
      if effect.event == "start", pushes.count > 1 {
        doubledStarts += pushes.count - 1
        let times = pushes.map(\.at.rfc3339).sorted().joined(separator: " and ")
        findings.append("doubled start: \(effect.session) to \(effect.phone), at \(times)")
      } else if ids.count > 1 {
        doubled += ids.count - 1
        findings.append(
          "doubled: \(effect.kind) of \(effect.session) rev \(effect.rev ?? 0) to \(effect.phone)")
      }
    }
  }

  private mutating func findOutOfOrder(_ pushes: [ReceivedPush]) {
    var newest: [String: (rev: Int, stamp: Int64)] = [:]
    for push in pushes.sorted(by: { $0.number < $1.number }) {
      guard push.isTaken, push.event == "update" || push.event == "end",
        let rev = push.rev, let stamp = push.stamp
      else { continue }
      let card = "\(push.phone) \(push.token)"
      guard let before = newest[card], rev < before.rev else {
        newest[card] = (rev, stamp)
        continue
      }
      if stamp < before.stamp {
        overtaken += 1
      } else if stamp == before.stamp {
        turnedRound += 1
      } else {
        outOfOrder += 1
        findings.append("out of order: \(push.phone) rev \(rev) after \(before.rev)")
      }
    }
  }
}

extension MutationRecord {
  /// Whether this call may have made it.
  func isOf(_ call: PlayedCall) -> Bool {
    mutation == call.mutation && (userID?.text ?? Player.kitchen) == call.user
  }
}
