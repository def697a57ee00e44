import TestSupport
import Vocabulary

/// The way to a push service and back: what is sent arrives late, or never, and so does its answer.
final class Ether {
  private struct Due {
    let at: Duration
    let sequence: Int
    /// Whose it is.
    let radio: AnyObject
    let isAnswer: Bool
    let happen: () -> Void
  }

  let time: ManualTime
  let chaos: Chaos
  /// In milliseconds.
  private let delayMax: Int
  private var due: [Due] = []
  private var sequence = 0

  init(time: ManualTime, chaos: Chaos, isSlow: Bool) {
    self.time = time
    self.chaos = chaos
    delayMax = isSlow ? 12_000 : 3000
  }

  /// When something happens next; nil when nothing is under way.
  var nextDue: Duration? { due.map(\.at).min() }

  /// A way as long as chance has it.
  var delay: Duration { .milliseconds(chaos.isOn ? chaos.number(in: 1...delayMax) : 20) }

  /// `happen` after `wait`, while the sender that owns `radio` lives or what it sent is under way.
  func later(
    _ wait: Duration, of radio: AnyObject, isAnswer: Bool = false, _ happen: @escaping () -> Void
  ) {
    sequence += 1
    due.append(
      Due(
        at: time.elapsed() + wait, sequence: sequence, radio: radio, isAnswer: isAnswer,
        happen: happen))
  }

  /// Lets happen what is due.
  func pass() {
    let now = time.elapsed()
    while let next = due.filter({ $0.at <= now }).min(by: {
      ($0.at, $0.sequence) < ($1.at, $1.sequence)
    }) {
      due.removeAll { $0.sequence == next.sequence }
      next.happen()
    }
  }

  /// Of what a dead process had sent some was still in its own buffers, and nobody hears answers.
  func died(_ radio: AnyObject) {
    due.removeAll { due in
      due.radio === radio && (due.isAnswer || chaos.strikes(onceIn: 2))
    }
  }
}
