import Synchronization
import Vocabulary

/// A token bucket per user.
///
/// Memory is bounded without a sweep: buckets live in two generations, and the older one is dropped
/// as a whole once a bucket that was not touched in it must be full again.
final class RateLimit: Sendable {
  /// How many users one generation remembers; beyond it the older one is forgotten early, which
  /// only ever lets a request through.
  static let usersMax = 100_000

  private struct Bucket {
    var tokens: Double
    var filledAt: Duration
  }

  private struct Generations {
    var young: [UserID: Bucket] = [:]
    var old: [UserID: Bucket] = [:]
    var begunAt: Duration = .zero
  }

  private let perSecond: Double
  private let burst: Double
  private let usersMax: Int
  private let generations = Mutex(Generations())

  /// `perSecond` requests in the long run, above 0; `burst` at once, at least 1.
  init(perSecond: Double, burst: Int, usersMax: Int = RateLimit.usersMax) {
    precondition(perSecond > 0 && burst >= 1, "settings are checked before they come here")
    self.perSecond = perSecond
    self.burst = Double(burst)
    self.usersMax = usersMax
  }

  /// Takes one request from the user's bucket. `now` counts from any start and never steps.
  ///
  /// Nil when the request may go on, else the whole seconds to wait, at least 1.
  func take(for user: UserID, at now: Duration) -> Int? {
    generations.withLock { generations in
      let refill = Duration.seconds(burst / perSecond)
      if now - generations.begunAt >= refill || generations.young.count >= usersMax {
        generations = Generations(young: [:], old: generations.young, begunAt: now)
      }
      var bucket =
        generations.young[user] ?? generations.old[user] ?? Bucket(tokens: burst, filledAt: now)
      let gained = (now - bucket.filledAt).secondsAndFraction * perSecond
      bucket.tokens = min(burst, bucket.tokens + max(0, gained))
      bucket.filledAt = now
      var wait: Int?
      if bucket.tokens >= 1 {
        bucket.tokens -= 1
      } else {
        wait = max(1, Int(((1 - bucket.tokens) / perSecond).rounded(.up)))
      }
      generations.young[user] = bucket
      return wait
    }
  }

  /// How many buckets are kept now.
  var bucketCount: Int { generations.withLock { $0.young.count + $0.old.count } }
}

extension Problem {
  static func tooManyRequests(retryAfter seconds: Int) -> Problem {
    Problem(
      status: 429, name: "too-many-requests", title: "Too many requests",
      detail: "You ask more often than you may; try again in \(seconds) s.",
      headers: [("retry-after", "\(seconds)")])
  }
}
