import Pushes
import Vocabulary

/// The jobs whose tokens were pruned a moment ago. Should the mass guard find that the tokens are
/// good, they are still due. Kept in memory only: a sender that dies in between forgets them, and
/// the next state of each activity mends that.
struct PrunedJobs<Token: Hashable & Sendable> {
  /// Of all lanes; the oldest go first. Below the guard's threshold there are far fewer.
  static var jobsMax: Int { 1000 }

  private struct Kept {
    let token: Token
    let prunedAt: UnixTime
    let message: Message
  }

  /// Oldest first.
  private var kept: [Kept] = []

  mutating func note(_ delivery: Delivery, of token: Token, now: UnixTime) {
    kept.removeAll { now - $0.prunedAt > MassGuard<Token>.window }
    kept.removeFirst(max(0, kept.count + 1 - Self.jobsMax))
    kept.append(
      Kept(token: token, prunedAt: now, message: delivery.message.withoutBrokerHeaders))
  }

  /// Takes out the jobs of these tokens.
  mutating func take(of tokens: [Token]) -> [Message] {
    guard !kept.isEmpty else { return [] }
    let wanted = Set(tokens)
    let taken = kept.filter { wanted.contains($0.token) }.map(\.message)
    kept.removeAll { wanted.contains($0.token) }
    return taken
  }
}
