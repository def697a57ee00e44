import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct RateLimitTests {
  @Test func `the burst passes, the next waits for its turn`() {
    let limit = RateLimit(perSecond: 20, burst: 60)
    let user = UserID("dennis")
    for _ in 0..<60 { #expect(limit.take(for: user, at: .zero) == nil) }
    #expect(limit.take(for: user, at: .zero) == 1)
    #expect(limit.take(for: user, at: .milliseconds(49)) == 1)
    #expect(limit.take(for: user, at: .milliseconds(51)) == nil)
    #expect(limit.take(for: UserID("jaqueline"), at: .zero) == nil)
  }

  @Test func `a slow rate says how long to wait`() {
    let limit = RateLimit(perSecond: 0.1, burst: 1)
    #expect(limit.take(for: UserID("a"), at: .zero) == nil)
    #expect(limit.take(for: UserID("a"), at: .zero) == 10)
    #expect(limit.take(for: UserID("a"), at: .seconds(9)) == 1)
    #expect(limit.take(for: UserID("a"), at: .seconds(10)) == nil)
  }

  @Test func `a bucket that is in use outlives its generation`() {
    let limit = RateLimit(perSecond: 1, burst: 10)
    let user = UserID("a")
    for second in 0..<100 {
      _ = limit.take(for: user, at: .seconds(second))
      _ = limit.take(for: user, at: .seconds(second))
    }
    #expect(limit.take(for: user, at: .seconds(100)) == nil)
    #expect(limit.take(for: user, at: .seconds(100)) != nil)
  }

  @Test func `memory is bounded`() {
    let limit = RateLimit(perSecond: 1, burst: 1, usersMax: 100)
    for number in 0..<1000 { _ = limit.take(for: UserID("\(number)"), at: .zero) }
    #expect(limit.bucketCount <= 200)
    for second in 1...3 { _ = limit.take(for: UserID("last"), at: .seconds(second)) }
    #expect(limit.bucketCount <= 2)
  }
}
