import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct PushPriorityTests {
  private let token = Samples.token(1)

  @Test(arguments: [PushJob.Event.start, .end, .alert])
  func `starts, ends and alerts always go at once`(event: PushJob.Event) {
    var priority = PushPriority()
    for _ in 0..<3 {
      #expect(
        priority.next(for: event, to: token, frequentPushesEnabled: nil, now: Samples.noon) == 10)
    }
  }

  @Test func `B-11 what shows nothing never goes at once: APNs refuses it`() {
    var priority = PushPriority()
    let next = priority.next(
      for: .resolve, to: token, frequentPushesEnabled: true, now: Samples.noon)
    #expect(next == 5)
  }

  @Test(arguments: [
    (Bool?.none, 14, 5), (nil, 15, 10), (true, 15, 10), (false, 15, 5), (false, 59, 5),
    (false, 60, 10),
  ])
  func `one update per interval goes with 10`(frequent: Bool?, seconds: Int, wanted: Int) {
    var priority = PushPriority()
    func next(_ moment: UnixTime) -> Int {
      priority.next(for: .update, to: token, frequentPushesEnabled: frequent, now: moment)
    }
    #expect(next(Samples.noon) == 10)
    #expect(next(Samples.noon + .seconds(seconds)) == wanted)
  }

  @Test func `E-12 one event per second for half an hour spends one of fifteen`() {
    var priority = PushPriority()
    let immediate = (0..<1800).count { second in
      priority.next(
        for: .update, to: token, frequentPushesEnabled: true, now: Samples.noon + .seconds(second))
        == 10
    }
    #expect(immediate == 120)
  }

  @Test func `activities do not spend each other's budget`() {
    var priority = PushPriority()
    for number in 0..<3 {
      let next = priority.next(
        for: .update, to: Samples.token(number), frequentPushesEnabled: nil, now: Samples.noon)
      #expect(next == 10)
    }
  }

  @Test func `a clock set back does not hold updates down`() {
    var priority = PushPriority()
    _ = priority.next(for: .update, to: token, frequentPushesEnabled: nil, now: Samples.noon)
    let earlier = Samples.noon - .seconds(3600)
    #expect(
      priority.next(for: .update, to: token, frequentPushesEnabled: nil, now: earlier) == 10)
  }
}
