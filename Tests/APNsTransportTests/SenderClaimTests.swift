import APNsTransport
import Foundation
import HTTP2
import Pipeline
import Pushes
import ServiceRuntime
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// What the whole sender claims with all faults at once, at a size that a test can afford.
/// `LOCKSTEP_TEST_PUSHES` makes it longer (default 2000; the claims were made for 10000).
@Suite struct SenderClaimTests {
  private static let pushes: Int =
    ProcessInfo.processInfo.environment["LOCKSTEP_TEST_PUSHES"].flatMap { Int($0) } ?? 2000
  private static let connectionsMax = 6

  /// How APNs behaves, and what it saw.
  private final class Trouble: Sendable {
    struct Seen {
      /// Requests by apns-id that were acted upon: answered, or reset after their body.
      var processed: [String: Int] = [:]
      var accepted: Set<String> = []
      /// Ids of requests that were acted upon and whose answer was lost.
      var ambiguous: Set<String> = []
      var goAways = 0
      var requests = 0
      var narrowed: Set<Int> = []
    }

    private let seen = Mutex(Seen())
    let bad: Set<String>

    init(bad: Set<String>) { self.bad = bad }

    var all: Seen { seen.withLock { $0 } }

    func reply(_ request: HTTP2Request) -> HTTP2Reply {
      let id = request.header("apns-id") ?? ""
      return seen.withLock { seen in
        seen.requests += 1
        if seen.requests % 300 == 0 {
          seen.goAways += 1
          return .goAway(debug: #"{"reason":"Shutdown"}"#, after: nil)
        }
        seen.processed[id, default: 0] += 1
        if seen.requests % 100 == 50 {
          seen.ambiguous.insert(id)
          return .resetStream(errorCode: 2)
        }
        if bad.contains(id) {
          seen.narrowed.insert(request.connection)
          return .withStreams(1, then: StandIn.refusal(400, "BadDeviceToken"))
        }
        seen.accepted.insert(id)
        return seen.narrowed.remove(request.connection) != nil
          ? .withStreams(nil, then: StandIn.ok) : StandIn.ok
      }
    }
  }

  @Test(arguments: [100, 20])
  func `D-2 D-3 D-12 with all faults at once none is lost, and doubled only what was in doubt`(
    oneIn: Int
  ) throws {
    let trouble = Mutex<Trouble?>(nil)
    let apns = try StandIn(streamsAtStart: 1) { request, _ in
      trouble.withLock { $0 }?.reply(request) ?? .never
    }
    let sending = try SenderOverHTTP2(apns) { $0.connectionsMax = Self.connectionsMax }
    let isBad = { (number: Int) in number % oneIn == 0 }
    let jobs = try (1...Self.pushes).map { try sending.job($0, isProven: !isBad($0)) }
    let bad = Set((1...Self.pushes).filter(isBad).map { jobs[$0 - 1].id })
    let told = Trouble(bad: bad)
    trouble.withLock { $0 = told }
    var next = 0
    #expect(
      try sending.turn(atMost: .seconds(300)) {
        // As much as a worker has in hand.
        while next < jobs.count, sending.sender.inHand < 1000 {
          do { try sending.take([jobs[next]]) } catch { Issue.record(error) }
          next += 1
        }
        return sending.ended.count == jobs.count
      })
    let seen = told.all
    #expect(sending.ended.values.allSatisfy { $0 == .done })
    let good = Set(jobs.map(\.id)).subtracting(bad)
    #expect(seen.accepted == good, "none is lost, and no bad one was taken")
    let doubled = Set(seen.processed.filter { $0.value > 1 }.keys)
    // A bad token is tried in Apple's other environment too, once.
    #expect(doubled.subtracting(bad).isSubset(of: seen.ambiguous), "only what was in doubt")
    #expect(seen.goAways >= Self.pushes / 300)
    #expect(apns.connectionsSeen <= 2 * Self.connectionsMax, "of two environments")
    expectCounted(seen, sending)
    print(
      "\(jobs.count) pushes, one bad in \(oneIn): \(seen.requests) requests, "
        + "\(seen.goAways) GOAWAYs, \(seen.ambiguous.count) in doubt, "
        + "\(doubled.subtracting(bad).count) doubled, "
        + "\(apns.connectionsSeen) connections at once at most")
  }

  /// Each push whose answer was lost stands in the records and in the metrics.
  private func expectCounted(_ seen: Trouble.Seen, _ sending: SenderOverHTTP2) {
    let unanswered = sending.metrics.text().split(separator: "\n").filter {
      $0.hasPrefix("lockstep_pushes_total{") && $0.contains(#"reason="unanswered""#)
    }.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    #expect(unanswered == seen.requests / 100 + (seen.requests % 100 >= 50 ? 1 : 0))
  }
}
