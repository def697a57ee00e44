import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct StartLimiterTests {
  private let phone = Samples.token(1)

  @Test func `E-11 of fifteen starts in a minute ten go and five wait`() {
    var limiter = StartLimiter()
    var waits: [Duration] = []
    for second in 0..<15 {
      let now = Samples.noon + .seconds(4 * second)
      if let wait = limiter.wait(for: phone, now: now) {
        waits.append(wait)
      } else {
        limiter.accepted(phone, now: now)
      }
    }
    #expect(waits == (10..<15).map { StartLimiter.window - .seconds(4 * $0) })
  }

  @Test func `the eleventh goes when the first is a window old, not before`() {
    var limiter = StartLimiter()
    for _ in 0..<StartLimiter.startsMax { limiter.accepted(phone, now: Samples.noon) }
    let due = Samples.noon + StartLimiter.window
    #expect(limiter.wait(for: phone, now: due - .milliseconds(1)) == .milliseconds(1))
    #expect(limiter.wait(for: phone, now: due) == nil)
  }

  @Test func `phones do not spend each other's budget`() {
    var limiter = StartLimiter()
    for _ in 0..<StartLimiter.startsMax { limiter.accepted(phone, now: Samples.noon) }
    #expect(limiter.wait(for: Samples.token(2), now: Samples.noon) == nil)
  }

  @Test func `a clock set back holds nobody longer than the window`() {
    var limiter = StartLimiter()
    for _ in 0..<StartLimiter.startsMax { limiter.accepted(phone, now: Samples.noon) }
    #expect(limiter.wait(for: phone, now: Samples.noon - .seconds(7200)) == StartLimiter.window)
  }

  @Test func `what it remembers has an end`() {
    var limiter = StartLimiter(phonesMax: 100)
    for number in 0...100 {
      limiter.accepted(Samples.token(number), now: Samples.noon + .milliseconds(number))
    }
    let last = Samples.token(100)
    for _ in 1..<StartLimiter.startsMax { limiter.accepted(last, now: Samples.noon) }
    #expect(limiter.wait(for: last, now: Samples.noon) != nil, "the newest is remembered")
  }
}
