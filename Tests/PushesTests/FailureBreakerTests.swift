import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct FailureBreakerTests {
  private let noon = Samples.noon

  /// - Returns: whether it tripped.
  private func fail(_ breaker: inout FailureBreaker, _ count: Int, at moment: UnixTime) -> Bool {
    (0..<count).reduce(false) { tripped, _ in breaker.failed(now: moment) || tripped }
  }

  @Test func `20 failures over three seconds trip it, 19 do not`() {
    var breaker = FailureBreaker()
    #expect(!fail(&breaker, 18, at: noon))
    #expect(!fail(&breaker, 1, at: noon + .seconds(3)))
    #expect(fail(&breaker, 1, at: noon + .seconds(3)))
  }

  @Test func `a connection that dies with all it carries does not trip it`() {
    var breaker = FailureBreaker()
    #expect(!fail(&breaker, 1000, at: noon))
    #expect(!fail(&breaker, 1000, at: noon + .milliseconds(2999)))
  }

  @Test(arguments: [(20, true), (21, false)])
  func `half of the answers trip it, less than half do not`(succeeded: Int, trips: Bool) {
    var breaker = FailureBreaker()
    for _ in 0..<succeeded { breaker.succeeded(now: noon) }
    _ = fail(&breaker, 19, at: noon)
    #expect(fail(&breaker, 1, at: noon + .seconds(3)) == trips)
  }

  @Test func `only the last half minute counts`() {
    var breaker = FailureBreaker()
    _ = fail(&breaker, 19, at: noon)
    #expect(!fail(&breaker, 19, at: noon + .seconds(30)))
    #expect(fail(&breaker, 1, at: noon + .seconds(33)))
  }

  @Test func `tripped it counts from nothing`() {
    var breaker = FailureBreaker()
    _ = fail(&breaker, 19, at: noon)
    #expect(fail(&breaker, 1, at: noon + .seconds(3)))
    #expect(!fail(&breaker, 1, at: noon + .seconds(4)))
  }

  @Test func `a clock set back starts it anew`() {
    var breaker = FailureBreaker()
    _ = fail(&breaker, 19, at: noon)
    #expect(!fail(&breaker, 1, at: noon - .seconds(3600)))
  }
}
