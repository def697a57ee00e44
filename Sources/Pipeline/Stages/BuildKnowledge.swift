import Pushes
import Vocabulary

/// What the store knows about all that a batch of events may touch: read for the whole batch at
/// once, then kept as it will be once the batch is stored. So two events of one session in one
/// batch act as if one came after the other.
struct BuildKnowledge {
  private var states: [ContextKey: ActivityState] = [:]
  private var updateTokens: [ContextKey: [Registration]] = [:]
  private var startTokens: [UserID: [Registration]] = [:]
  private var dismissed: Set<ContextKey> = []
  private var acceptedStarts: Set<StartKey> = []
  private(set) var android: AndroidKnowledge?
  private var writing = Writing()

  private struct StartKey: Hashable {
    let session: SessionID
    let token: PushToken
  }

  /// What the batch leaves to be written.
  private struct Writing {
    var channels: [Registration] = []
    var states: Set<ContextKey> = []
    var starts: [Start] = []
  }

  /// Reads it. `states`: all that the batch's events bring. `registered`: the tokens that its
  /// events tell of. `withAndroid`: whether Android phones are served too.
  ///
  /// - Throws: ``StoreError``.
  init(
    of states: [ActivityState], and registered: [TokenRegistered], withAndroid: Bool,
    in transaction: any StoreTransaction
  ) throws {
    for user in Set(registered.filter(\.wantsAllCards).map(\.userID)) {
      for state in try transaction.liveActivityStates(of: user) {
        self.states[state.contextKey] = state
      }
    }
    let waiting = Array(self.states.values)
    let contexts = unique(states.map(\.contextKey) + registered.compactMap(\.contextKey))
    self.states.merge(try transaction.activityStates(contexts)) { _, read in read }
    updateTokens = try transaction.updateTokens(of: contexts)
    // Of an event that comes again the stored state counts, and may be another than it brings.
    let shown = states + states.compactMap { self.states[$0.contextKey] } + waiting
    try readStarts(of: shown.filter(\.isStartable), in: transaction)
    guard withAndroid else { return }
    android = try AndroidKnowledge(of: shown, in: transaction)
  }

  private mutating func readStarts(
    of startable: [ActivityState], in transaction: any StoreTransaction
  ) throws {
    guard !startable.isEmpty else { return }
    dismissed = try transaction.dismissed(among: unique(startable.map(\.contextKey)))
    startTokens = try transaction.tokens(
      of: unique(startable.map(\.userID)), kind: .pushToStart)
    guard !startTokens.isEmpty else { return }
    for start in try transaction.starts(of: unique(startable.map(\.sessionID)))
    where start.acceptedAt != nil {
      acceptedStarts.insert(StartKey(session: start.sessionID, token: start.token))
    }
  }

  // MARK: What is known

  func state(of context: ContextKey) -> ActivityState? { states[context] }
  func updateTokens(of context: ContextKey) -> [Registration] { updateTokens[context] ?? [] }
  func startTokens(of user: UserID) -> [Registration] { startTokens[user] ?? [] }
  func isDismissed(_ context: ContextKey) -> Bool { dismissed.contains(context) }

  func isAccepted(_ session: SessionID, by token: PushToken) -> Bool {
    acceptedStarts.contains(StartKey(session: session, token: token))
  }

  /// The user's cards that go on, the oldest mutation first; only of one whose token registered.
  func liveStates(of user: UserID) -> [ActivityState] {
    states.values.filter { $0.userID == user && $0.event != .end }
      .sorted { ($0.causedAt, $0.contextKey) < ($1.causedAt, $1.contextKey) }
  }

  // MARK: What becomes known

  mutating func keep(_ state: ActivityState) {
    states[state.contextKey] = state
    writing.states.insert(state.contextKey)
  }

  mutating func keep(_ start: Start) { writing.starts.append(start) }

  /// A channel is an address like a token: it belongs to one activity at a time.
  mutating func keep(channel: Registration, of context: ContextKey) {
    for other in Array(updateTokens.keys) {
      updateTokens[other]?.removeAll {
        $0.token == channel.token && $0.userID != channel.userID
      }
    }
    updateTokens[context, default: []].append(channel)
    writing.channels.append(channel)
  }

  /// - Throws: ``StoreError``.
  func write(in transaction: any StoreTransaction) throws {
    for channel in writing.channels { try transaction.register(channel) }
    try transaction.save(writing.states.sorted().compactMap { states[$0] })
    for start in writing.starts { try transaction.save(start) }
  }
}

/// Each once, in the order given.
private func unique<Key: Hashable>(_ keys: [Key]) -> [Key] {
  var seen: Set<Key> = []
  return keys.filter { seen.insert($0).inserted }
}

extension TokenRegistered {
  /// It is worth something to every card of its user, not to one.
  fileprivate var wantsAllCards: Bool {
    kind == TokenKind.pushToStart.rawValue || kind == Self.fcmKind
  }
}

extension ActivityState {
  /// Its card may be started by push.
  var isStartable: Bool { attributes != nil && event != .end }
}
