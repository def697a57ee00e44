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

/// What the sender claims under faults, at a size that a test can afford. `LOCKSTEP_TEST_PUSHES`
/// makes them longer (default 2000; the claims were made for 10000).
@Suite struct ClaimTests {
  private static let pushes: UInt64 =
    ProcessInfo.processInfo.environment["LOCKSTEP_TEST_PUSHES"].flatMap { UInt64($0) } ?? 2000

  /// How often each apns-id was answered by 200 or refused, by the server's own count.
  private func processed(_ apns: StandIn, _ isProcessed: (HTTP2Request) -> Bool) -> [String: Int] {
    apns.record.seen.map(\.request).filter(isProcessed).reduce(into: [:]) {
      $0[$1.header("apns-id") ?? "", default: 0] += 1
    }
  }

  @Test func `D-2 a GOAWAY every three hundred requests loses none and doubles none`() throws {
    let said = Mutex<Set<String>>([])
    let apns = try StandIn { request, earlier in
      guard earlier % 300 == 299 else { return StandIn.ok }
      // This stream does not count: APNs never processed it.
      let id = request.header("apns-id") ?? ""
      _ = said.withLock { $0.insert(id) }
      return .goAway(debug: #"{"reason":"Shutdown"}"#, after: nil)
    }
    let transport = try apns.transport { $0.connectionsMax = 4 }
    let start = monotonicTime()
    #expect(apns.push(requests(Self.pushes), through: transport, atMost: .seconds(120)))
    #expect(apns.statuses == [200: Int(Self.pushes)], "\(apns.unanswered)")
    #expect(apns.doubled.isEmpty)
    #expect(apns.connectionsSeen <= 4)
    let refused = said.withLock { $0 }
    let twice = Dictionary(
      grouping: apns.record.seen.compactMap { $0.request.header("apns-id") }, by: \.self
    ).filter { $0.value.count > 1 }
    #expect(Set(twice.keys).isSubset(of: refused), "only what did not count came again")
    report("GOAWAY every 300", start, apns)
  }

  /// What a connection gives back comes in any order; the oldest must not be the last again.
  @Test func `D-2 with far more in flight than a connection lives to answer none is given up`()
    throws
  {
    let apns = try StandIn(maxConcurrentStreams: 500) { _, earlier in
      earlier % 50 == 49 ? .goAway(debug: "", after: nil) : StandIn.ok
    }
    let transport = try apns.transport { $0.connectionsPerEnvironment = 1 }
    #expect(apns.push(requests(3000), through: transport, atMost: .seconds(60)))
    #expect(apns.statuses == [200: 3000], "\(apns.unanswered)")
    #expect(apns.doubled.isEmpty)
  }

  /// The clock stands: what is sent again waits for no timer, and so leaves within the second that
  /// is asked for.
  @Test func `D-1 after a GOAWAY what was not processed is sent again at once`() throws {
    let apns = try StandIn { request, earlier in
      guard request.connection == 1 else { return StandIn.ok }
      if earlier == 60 { return .goAway(debug: "", after: nil) }
      return earlier < 20
        ? StandIn.ok : .respondAfter(.milliseconds(300), HTTP2Response(status: 200))
    }
    let transport = try apns.transport(time: ManualTime()) { $0.connectionsPerEnvironment = 1 }
    #expect(apns.push(requests(160), through: transport))
    #expect(apns.statuses == [200: 160])
    #expect(apns.doubled.isEmpty)
    let byConnection = Dictionary(grouping: apns.record.seen.map(\.request), by: \.connection)
    #expect(byConnection[1]?.count == 61, "those that it let finish, and the one that said it")
    #expect(byConnection[2]?.count == 100)
    #expect(byConnection.count == 2)
  }

  /// The server holds a connection to one stream from its first refusal until its next 200, as APNs
  /// was seen to do.
  @Test(arguments: [100, 20])
  func `D-3 D-7 bad tokens narrow their connection: none lost, none doubled, below the cap`(
    oneIn: UInt64
  ) throws {
    let clean = try narrowing(oneIn: nil)
    let bad = try narrowing(oneIn: oneIn)
    let goodTokens = clean.sorted()
    let beside = bad.sorted()
    let p99 = { (all: [Duration]) in all[min(all.count - 1, all.count * 99 / 100)] }
    // Shown, not asserted: a busy machine would decide it.
    print(
      "good tokens' p99: \(p99(goodTokens).milliseconds) ms clean, "
        + "\(p99(beside).milliseconds) ms with one bad in \(oneIn)")
  }

  /// - Returns: how long each good token's push took.
  private func narrowing(oneIn: UInt64?) throws -> [Duration] {
    let server = Mutex<HTTP2Server?>(nil)
    let narrow = Mutex<Set<Int>>([])
    func isBad(_ number: UInt64) -> Bool { oneIn.map { number % $0 == 0 } ?? false }
    let bad = Set((1...Self.pushes).filter(isBad).map { request($0).apnsID })
    let apns = try StandIn { request, _ in
      let isRefused = bad.contains(request.header("apns-id") ?? "")
      let changed = narrow.withLock {
        isRefused
          ? $0.insert(request.connection).inserted : $0.remove(request.connection) != nil
      }
      if changed {
        server.withLock { $0 }?
          .setMaxConcurrentStreams(isRefused ? 1 : 1000, connection: request.connection)
      }
      return isRefused ? StandIn.refusal(400, "BadDeviceToken") : StandIn.ok
    }
    server.withLock { $0 = apns.server }
    defer { server.withLock { $0 = nil } }
    let transport = try apns.transport { $0.connectionsMax = 4 }
    // A bad token was never accepted, so it is unproven and goes on the probation connection.
    let all = (1...Self.pushes).map { request($0, isProven: !isBad($0)) }
    let sentAt = apns.pushTimed(all, through: transport, atMost: .seconds(120))
    #expect(sentAt.count == all.count)
    #expect(apns.doubled.isEmpty)
    #expect(apns.record.seen.count == all.count, "the server saw each once")
    #expect(apns.server.connectionsTaken <= 4)
    #expect(apns.statuses[400] ?? 0 == bad.count)
    return sentAt.filter { !isBad($0.key) }.map(\.value)
  }

  @Test func `D-12 one in a hundred is reset: each has one end, and only those are in doubt`()
    throws
  {
    let reset = Mutex<Set<String>>([])
    let apns = try StandIn { request, earlier in
      guard earlier % 100 == 50 else { return StandIn.ok }
      _ = reset.withLock { $0.insert(request.header("apns-id") ?? "") }
      return .resetStream(errorCode: 2)
    }
    let transport = try apns.transport()
    #expect(apns.push(requests(Self.pushes), through: transport, atMost: .seconds(120)))
    let inDoubt = apns.outcomes.filter { if case .unanswered = $0.value { true } else { false } }
    let ids = Set(inDoubt.keys.map { request($0).apnsID })
    #expect(ids == reset.withLock { $0 })
    #expect(apns.outcomes.count == Int(Self.pushes))
    #expect(apns.doubled.isEmpty)
    #expect(apns.connectionsSeen <= 4)
    // Sent again by the sender, under the same ids; one of them may be reset once more.
    var again = inDoubt.keys.sorted()
    while !again.isEmpty {
      for number in again { apns.forget(number) }
      try #require(apns.push(again.map { request($0) }, through: transport))
      again = again.filter { apns.status($0) == nil }
    }
    #expect(apns.statuses == [200: Int(Self.pushes)])
  }

  @Test(arguments: [(500, "InternalServerError"), (403, "ExpiredProviderToken")])
  func `C-6 a poisoned connection is left within three answers`(status: Int, reason: String) throws
  {
    let apns = try StandIn { request, earlier in
      request.connection == 1 && earlier >= 5 ? StandIn.refusal(status, reason) : StandIn.ok
    }
    let transport = try apns.transport { $0.connectionsPerEnvironment = 1 }
    for number in UInt64(1)...20 { #expect(apns.push([request(number)], through: transport)) }
    let poisoned = apns.outcomes.keys.filter { apns.status($0) == status }
    #expect(poisoned.count <= 3)
    #expect(apns.drive(transport) { apns.server.openConnections == 1 }, "the old one is closed")
  }

  /// By the transport's own clock, which the test moves: with the limits of a deployment.
  @Test func `D-9 a network that swallows everything is left within ten seconds`() throws {
    let apns = try StandIn { request, earlier in
      request.connection == 1 && earlier >= 5 ? .goDeaf : StandIn.ok
    }
    let time = ManualTime()
    let transport = try apns.transport(time: time) { $0.connectionsPerEnvironment = 1 }
    #expect(apns.push(requests(5), through: transport))
    for push in requests(50, from: 10) { transport.send(push) }
    #expect(apns.drive(transport) { apns.record.seen.count == 6 })
    let swallowedAt = time.elapsed()
    while apns.outcomes.count < 55, time.elapsed() - swallowedAt < .seconds(20) {
      time.advance(by: .milliseconds(250))
      apns.drive(transport, atMost: .milliseconds(10)) { false }
    }
    let unanswered = apns.outcomes.values.filter {
      $0 == .unanswered(because: "no answer to PING")
    }
    #expect(unanswered.count == 50)
    #expect(time.elapsed() - swallowedAt < .seconds(10))
    // The clock stands from here: the next connection waits for nothing.
    for number in UInt64(10)..<60 { apns.forget(number) }
    #expect(apns.push(requests(50, from: 10), through: transport))
    #expect(apns.statuses == [200: 55])
  }

  @Test func `D-17 more pushes than the transport takes: in flight is bounded, all are answered`()
    throws
  {
    let apns = try StandIn()
    let transport = try apns.transport { $0.inFlightMax = 500 }
    var most = 0
    var next: UInt64 = 1
    #expect(
      apns.drive(transport, atMost: .seconds(120)) {
        while transport.capacity > 0, next <= Self.pushes {
          transport.send(request(next))
          next += 1
        }
        most = max(most, transport.inFlight)
        return apns.outcomes.count == Int(Self.pushes)
      })
    #expect(most <= 500)
    #expect(apns.statuses == [200: Int(Self.pushes)])
  }

  @Test func `C-8 tokens of two keys never share a connection`() throws {
    let apns = try StandIn()
    let time = ManualTime()
    let transport = try apns.transport(time: time, tokens: TwoKeys()) {
      $0.connectionsPerEnvironment = 1
    }
    #expect(apns.push(requests(20), through: transport))
    time.advance(by: .seconds(61))
    #expect(apns.push(requests(20, from: 100), through: transport))
    let keys = Dictionary(grouping: apns.record.seen.map(\.request), by: \.connection)
      .mapValues { Set($0.map { $0.header("authorization") ?? "" }) }
    #expect(keys.values.allSatisfy { $0.count == 1 })
    #expect(Set(keys.values.flatMap(\.self)) == ["bearer first", "bearer second"])
  }

  /// A key for a minute, then another.
  private final class TwoKeys: ProviderTokenSource {
    private let asked = Mutex(0)

    func token() throws -> ProviderToken {
      let number = asked.withLock { asked in
        asked += 1
        return asked
      }
      return number == 1
        ? ProviderToken(
          authorization: "bearer first", generation: 1, keyID: "FIRST", refreshAt: .seconds(60))
        : ProviderToken(
          authorization: "bearer second", generation: 2, keyID: "SECOND", refreshAt: .seconds(9999))
    }

    func expired(generation: Int) -> Bool { false }
  }

  @Test func `D-6 a server that starts with one stream and allows more after the first 200`() throws
  {
    let apns = try StandIn(streamsAtStart: 1)
    #expect(apns.push(requests(200), through: try apns.transport()))
    #expect(apns.statuses == [200: 200])
    #expect(apns.doubled.isEmpty)
    #expect(apns.record.seen.count == 200)
    #expect(apns.server.connectionsTaken <= 2)
  }

  private func report(_ what: String, _ start: Duration, _ apns: StandIn) {
    let milliseconds = (monotonicTime() - start).milliseconds
    print(
      "\(what): \(Self.pushes) pushes in \(milliseconds) ms, "
        + "\(apns.server.connectionsTaken) connections, \(apns.connectionsSeen) at once at most")
  }
}
