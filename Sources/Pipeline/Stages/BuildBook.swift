import Activities
import Sessions
import Vocabulary

/// Notes what the builder did about each event, one record per participant, for `lockstep explain`.
struct BuildBook {
  /// What is noted of one participant while its event is worked on.
  struct Entry {
    let state: ActivityState
    var outcome: BuildRecord.Outcome
    var updateJobs = 0
    var startJobs = 0
    var fcmJobs = 0
    var reason: String?
  }

  private let now: UnixTime
  /// Of the event in hand, in the order of participants.
  private var entries: [Entry] = []
  private(set) var records: [BuildRecord] = []

  init(now: UnixTime) { self.now = now }

  /// `before`: what was known of this activity.
  mutating func open(_ state: ActivityState, knowing before: ActivityState?) {
    var entry = Entry(state: state, outcome: .stored)
    if let before, before.rev == state.rev {
      entry.outcome = .repeated
    } else if let before, before.event == .end {
      entry.outcome = .stale
      entry.reason = "this card was ended at rev \(before.rev)"
    } else if let before, before.rev > state.rev {
      entry.outcome = .stale
      entry.reason = "rev \(before.rev) is known"
    }
    entries.append(entry)
  }

  /// Notes something of one participant's state; of one that no event opened, a token came late.
  mutating func note(_ state: ActivityState, _ change: (inout Entry) -> Void) {
    if let place = entries.firstIndex(where: { $0.state.contextKey == state.contextKey }) {
      change(&entries[place])
    } else {
      var entry = Entry(state: state, outcome: .late)
      change(&entry)
      entries.append(entry)
    }
  }

  /// The pushes of the event in hand cannot be made.
  mutating func dead(because reason: String) {
    for place in entries.indices {
      entries[place].outcome = .dead
      entries[place].reason = reason
      entries[place].updateJobs = 0
      entries[place].startJobs = 0
      entries[place].fcmJobs = 0
    }
  }

  /// The event in hand is done with.
  mutating func close() {
    records += entries.map(record)
    entries = []
  }

  private func record(_ entry: Entry) -> BuildRecord {
    let state = entry.state
    return BuildRecord(
      sessionID: state.sessionID, userID: state.userID, contextKey: state.contextKey,
      rev: state.rev, outcome: entry.outcome, updateJobs: entry.updateJobs,
      startJobs: entry.startJobs, fcmJobs: entry.fcmJobs, reason: reason(entry), builtAt: now)
  }

  /// Where there are jobs nothing else need be said.
  private func reason(_ entry: Entry) -> String? {
    switch entry.outcome {
    case .stale, .expired, .dead: return entry.reason
    case .stored, .repeated, .late: break
    }
    guard entry.updateJobs + entry.startJobs + entry.fcmJobs == 0 else { return nil }
    if let reason = entry.reason { return reason }
    if entry.state.event == .end { return "no update token registered: there is no card to end" }
    return "no update token registered: its app starts this card itself"
  }

  /// The event's deadline had passed: nothing was worked on but `states`.
  mutating func expired(_ event: Event, butFor states: [ActivityState]) {
    let all: [BuildRecord] =
      switch event.subject {
      case .session(let session, _) where !session.isSolo:
        session.participants.map {
          expired(session.id, $0.userID, session.contextKey(for: $0.userID), rev: session.rev)
        }
      case .activity(let activity, _):
        activity.recipients.map {
          expired(activity.sessionID, $0.userID, activity.contextKey(of: $0.userID), rev: $0.rev)
        }
      case .session, .token: []
      }
    let worked = Set(states.map(\.contextKey))
    records += all.filter { !worked.contains($0.contextKey) }
  }

  private func expired(_ session: SessionID, _ user: UserID, _ context: ContextKey, rev: Int)
    -> BuildRecord
  {
    BuildRecord(
      sessionID: session, userID: user, contextKey: context, rev: rev, outcome: .expired,
      builtAt: now)
  }
}
