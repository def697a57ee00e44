import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct MassGuardTests {
  private let reason = "BadDeviceToken"

  /// Refuses tokens `range`, all at one moment.
  private func refuse(
    _ range: Range<Int>, in guardian: inout MassGuard<PushToken>, at moment: UnixTime = Samples.noon
  ) -> [MassGuard<PushToken>.Ruling] {
    range.map { guardian.refused(Samples.token($0), because: reason, now: moment) }
  }

  private func restored(_ ruling: MassGuard<PushToken>.Ruling?) -> Set<PushToken>? {
    guard case .stopPruning(let tokens) = ruling else { return nil }
    return Set(tokens)
  }

  @Test func `19 refused tokens are pruned, the 20th stops it and restores all`() {
    var guardian = MassGuard<PushToken>()
    #expect(refuse(0..<19, in: &guardian).allSatisfy { $0 == .prune })
    #expect(restored(refuse(19..<20, in: &guardian).last) == Set((0..<20).map(Samples.token)))
  }

  @Test func `one token refused twenty times is one token`() {
    var guardian = MassGuard<PushToken>()
    for _ in 0..<20 {
      #expect(guardian.refused(Samples.token(1), because: reason, now: Samples.noon) == .prune)
    }
  }

  @Test(arguments: [(20, true), (21, false)])
  func `half of those tried trips it, less than half does not`(accepted: Int, trips: Bool) {
    var guardian = MassGuard<PushToken>()
    for number in 100..<(100 + accepted) {
      guardian.accepted(Samples.token(number), now: Samples.noon)
    }
    #expect((restored(refuse(0..<20, in: &guardian).last) != nil) == trips)
  }

  @Test func `other refusals do not count as alike`() {
    var guardian = MassGuard<PushToken>()
    for number in 0..<19 {
      _ = guardian.refused(Samples.token(number), because: reason, now: Samples.noon)
    }
    let other = guardian.refused(
      Samples.token(19), because: "DeviceTokenNotForTopic", now: Samples.noon)
    #expect(other == .prune)
  }

  @Test func `a token whose refusal changed counts for the new one`() {
    var guardian = MassGuard<PushToken>()
    _ = refuse(0..<19, in: &guardian)
    guardian.accepted(Samples.token(0), now: Samples.noon)
    #expect(refuse(19..<20, in: &guardian) == [.prune])
    #expect(restored(refuse(20..<21, in: &guardian).last)?.contains(Samples.token(0)) == false)
  }

  @Test(arguments: [(Duration.seconds(60), true), (.seconds(62), false)])
  func `only the last minute counts`(wait: Duration, trips: Bool) {
    var guardian = MassGuard<PushToken>()
    _ = refuse(0..<19, in: &guardian)
    let last = refuse(19..<20, in: &guardian, at: Samples.noon + wait).last
    #expect((restored(last) != nil) == trips)
  }

  @Test func `what was refused before the clock was set back counts no more`() {
    var guardian = MassGuard<PushToken>()
    _ = refuse(0..<19, in: &guardian)
    let earlier = Samples.noon - .seconds(7200)
    #expect(refuse(19..<38, in: &guardian, at: earlier).allSatisfy { $0 == .prune })
    #expect(restored(refuse(38..<39, in: &guardian, at: earlier).last)?.count == 20)
  }

  @Test func `pruning stays stopped while only probes go out, and until one is accepted`() {
    var guardian = MassGuard<PushToken>()
    _ = refuse(0..<20, in: &guardian)
    let later = Samples.noon + .seconds(600)
    #expect(restored(refuse(50..<51, in: &guardian, at: later).last) == [Samples.token(50)])
    guardian.accepted(Samples.token(60), now: later + .seconds(100))
    #expect(refuse(51..<52, in: &guardian, at: later + .seconds(100)) == [.prune])
  }
}
