import Vocabulary

/// Stops pruning when many tokens are refused alike: then not the tokens are wrong but the topic or
/// the environment, and pruning would empty the registry after one bad deployment.
///
/// `Target`: what a push goes to, a token or a subscription.
package struct MassGuard<Target: Hashable & Sendable>: Sendable {
  /// Trips at this many distinct tokens refused alike …
  package static var refusedMin: Int { 20 }
  /// … within this time …
  package static var window: Duration { .seconds(60) }
  /// … when they are at least this part of those tried.
  package static var refusedShareMin: Double { 0.5 }
  /// Accepted targets remembered at most. Of more none is noted, so that the refused ones weigh
  /// more and pruning stops sooner: the mistake that does no harm.
  package static var acceptedMax: Int { 10_000 }

  private struct Trial {
    let moment: UnixTime
    let refusal: String?
  }

  private var trials: [Target: Trial] = [:]
  /// How many of `trials` ended with each refusal.
  private var refusals: [String: Int] = [:]
  /// The refusal that stopped pruning. It stays stopped until a push is accepted, however few
  /// tokens are tried meanwhile: an open lane tries one at a time.
  private var stopped: String?
  private var oldest: UnixTime?

  package init() {}

  package enum Ruling: Hashable, Sendable {
    case prune
    /// These tokens, refused within the window, must be restored.
    case stopPruning(restore: [Target])
  }

  /// A push to this token was accepted.
  package mutating func accepted(_ token: Target, now: UnixTime) {
    stopped = nil
    guard trials.count < Self.acceptedMax || trials[token] != nil || isDueForSweep(now) else {
      return
    }
    note(token, Trial(moment: now, refusal: nil))
  }

  /// This token was refused with `reason`.
  package mutating func refused(_ token: Target, because reason: String, now: UnixTime) -> Ruling {
    note(token, Trial(moment: now, refusal: reason))
    let alike = refusals[reason, default: 0]
    let share = Double(alike) / Double(trials.count)
    let isMass = alike >= Self.refusedMin && share >= Self.refusedShareMin
    guard isMass || stopped == reason else { return .prune }
    stopped = reason
    return .stopPruning(restore: trials.filter { $0.value.refusal == reason }.map(\.key))
  }

  private func isDueForSweep(_ now: UnixTime) -> Bool {
    // One of the future was noted before the clock was set back, and says nothing any more.
    oldest.map { now - $0 > Self.window + .seconds(1) || $0 > now } ?? false
  }

  private mutating func note(_ token: Target, _ trial: Trial) {
    // A sweep for each push would cost more than the push; one per second is exact enough.
    if isDueForSweep(trial.moment) {
      trials = trials.filter {
        $0.value.moment <= trial.moment && trial.moment - $0.value.moment <= Self.window
      }
      self.oldest = trials.values.map(\.moment).min()
      refusals = trials.values.reduce(into: [:]) { counts, trial in
        if let refusal = trial.refusal { counts[refusal, default: 0] += 1 }
      }
    }
    if let before = trials.updateValue(trial, forKey: token)?.refusal {
      refusals[before, default: 0] -= 1
    }
    if let refusal = trial.refusal { refusals[refusal, default: 0] += 1 }
    oldest = oldest ?? trial.moment
  }
}
