import RabbitMQBroker
import TestSupport
import Testing
import Vocabulary

@Suite struct QueueHistoryTests {
  /// One line per sample, five seconds apart, the newest last: what the queue held, and how many
  /// had left it.
  private func history(_ samples: [(depth: Int, gone: Int)]) -> QueueHistory {
    QueueHistory(
      samples.enumerated().map { place, sample in
        QueueHistory.Sample(
          at: UnixTime(seconds: Int64(1000 + 5 * place)), depth: sample.depth, gone: sample.gone)
      }, interval: .seconds(5))
  }

  private func age(_ atLeast: Int, _ atMost: Int?) -> QueueAge {
    QueueAge(atLeast: .seconds(atLeast), atMost: atMost.map { .seconds($0) })
  }

  @Test func `without history nothing is known`() {
    #expect(history([]).oldest == nil)
    #expect(history([]).rates == nil)
    #expect(history([(5, 0)]).oldest == nil)
    #expect(history([(5, 0)]).rates == nil)
  }

  @Test func `what waits since the beginning is at least as old as all that is known`() {
    // The two oldest samples are too near to the beginning to tell what left since.
    #expect(history([(5, 0), (5, 0), (5, 0), (5, 0), (5, 0)]).oldest == age(10, nil))
  }

  @Test func `an empty queue's next message is young`() {
    #expect(history([(0, 9), (0, 9), (0, 9)]).oldest == age(0, 10))
  }

  @Test func `a backlog is as old as the moment whose messages have not all left`() {
    // 100 came at once, then 20 leave in each five seconds.
    let samples = history([(0, 0), (0, 0), (100, 0), (80, 20), (60, 40), (40, 60), (20, 80)])
    #expect(samples.oldest == age(20, 35))
  }

  @Test func `what flows through is young, however much it is`() {
    let flow = (0..<10).map { (depth: 50, gone: $0 * 1000) }
    #expect(history(flow).oldest == age(0, 15))
  }

  @Test func `what was purged is gone, though nobody acknowledged it`() {
    #expect(
      history([(100, 0), (100, 0), (100, 0), (0, 0), (3, 0), (3, 0)]).oldest == age(0, 20))
  }

  @Test func `a counter that begins anew lies about nothing`() {
    let restarted = history([(9, 500), (9, 500), (9, 500), (9, 0), (9, 0), (9, 0)])
    #expect(restarted.oldest == age(15, nil))
    #expect(restarted.rates?.leaving == 0)
  }

  @Test func `the age is true whatever leaves first, and no later than that when in order`() {
    for _ in 0..<200 {
      let seed = UInt64.random(in: .min ... .max)
      var random = SeededRandom(seed: seed)
      // Each message: when it came and when it left, in seconds; first in, first out.
      var waiting: [Int] = []
      var gone = 0
      var samples: [QueueHistory.Sample] = []
      let come = Int.random(in: 0...30, using: &random)
      let go = Int.random(in: 0...30, using: &random)
      for second in 0...120 {
        waiting += Array(repeating: second, count: Int.random(in: 0...come, using: &random))
        let leaving = min(waiting.count, Int.random(in: 0...go, using: &random))
        waiting.removeFirst(leaving)
        gone += leaving
        if second.isMultiple(of: 5) {
          samples.append(
            .init(at: UnixTime(seconds: Int64(second)), depth: waiting.count, gone: gone))
        }
      }
      let oldest = QueueHistory(samples, interval: .seconds(5)).oldest
      guard let first = waiting.first, let oldest else { continue }
      let truth = Duration.seconds(120 - first)
      #expect(oldest.atLeast <= truth, "seed \(seed)")
      #expect(oldest.atMost.map { $0 >= truth } ?? true, "seed \(seed)")
    }
  }

  @Test func `rates count what comes back from a rung too`() throws {
    // The last thirty seconds: 60 left, and 30 more are there.
    let samples = (0...8).map { (depth: 100 + $0 * 5, gone: $0 * 10) }
    let rates = try #require(history(samples).rates)
    #expect(rates.leaving == 2)
    #expect(rates.arriving == 3)
  }
}
