import Synchronization
import Vocabulary

/// One mutation that a player asked for, as the player knows it.
struct PlayedCall: Hashable, Sendable {
  enum Outcome: Hashable, Sendable {
    /// 2xx: the session's rev in the answer, and the one that the player had seen before.
    case accepted(rev: Int, after: Int)
    /// 4xx: nothing happened.
    case refused(status: Int)
    /// No answer, or one that does not say: it may have happened, or may still happen.
    case unknown
  }

  /// Empty when it was to open the session.
  let session: String
  /// `kitchen` for the kitchen.
  let user: String
  /// As the event names it: `pick`, `ready`, ….
  let mutation: String
  let outcome: Outcome
}

/// What all players did. Written by their threads.
final class PlayersRecord: Sendable {
  private struct Content {
    var calls: [PlayedCall] = []
    var sessions: [String] = []
    var accepted = 0
    var allowance = 0
    var isOver = false
  }

  private let content = Mutex(Content())

  func add(_ call: PlayedCall) {
    content.withLock { content in
      content.calls.append(call)
      if case .accepted = call.outcome { content.accepted += 1 }
    }
  }

  func opened(_ session: String) { content.withLock { $0.sessions.append(session) } }

  var calls: [PlayedCall] { content.withLock { $0.calls } }
  var sessions: [String] { content.withLock { $0.sessions } }
  /// How many mutations were answered with 2xx so far.
  var accepted: Int { content.withLock { $0.accepted } }

  /// The players may go on until so many are accepted.
  func allow(_ count: Int) { content.withLock { $0.allowance = count } }

  var mayGoOn: Bool { content.withLock { $0.accepted < $0.allowance } }

  func end() { content.withLock { $0.isOver = true } }

  var isOver: Bool { content.withLock { $0.isOver } }
}
