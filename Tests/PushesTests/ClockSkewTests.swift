import Pushes
import Testing
import Vocabulary

@Suite struct ClockSkewTests {
  private let now = UnixTime(seconds: 1_781_784_000)

  private func skew(date: UnixTime?) -> ClockSkew? {
    ClockSkew(of: PushAnswer(status: 403, date: date), now: now)
  }

  @Test(arguments: [Int64(-300_000), -1000, 0, 1000, 300_000])
  func `clocks up to five minutes apart agree`(milliseconds: Int64) {
    #expect(skew(date: now + .milliseconds(milliseconds)) == nil)
  }

  @Test(arguments: [
    (Int64(-300_001), "our clock is 5 min ahead of APNs'"),
    (300_001, "our clock is 5 min behind APNs'"),
    (-7_199_000, "our clock is 2 h 0 min ahead of APNs'"),
    (7_140_000, "our clock is 119 min behind APNs'"),
    (90_060_000, "our clock is 25 h 1 min behind APNs'"),
  ])
  func `beyond that the skew is named`(milliseconds: Int64, words: String) {
    #expect(skew(date: now + .milliseconds(milliseconds))?.description == words)
  }

  @Test func `an answer without a date says nothing`() {
    #expect(skew(date: nil) == nil)
  }
}
