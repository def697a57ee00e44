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

@Suite struct FailureTests {
  @Test func `a GOAWAY in mid-flight loses nothing and doubles nothing`() throws {
    let apns = try StandIn { request, earlier in
      switch (request.connection, earlier) {
      case (1, 60): .goAway(debug: #"{"reason":"Shutdown"}"#, after: nil)
      case (1, 30...): .respondAfter(.milliseconds(100), HTTP2Response(status: 200))
      default: StandIn.ok
      }
    }
    let transport = try apns.transport { $0.connectionsPerEnvironment = 1 }
    #expect(apns.push(requests(300), through: transport))
    #expect(apns.statuses == [200: 300])
    #expect(apns.doubled.isEmpty)
    // The one that said GOAWAY did not count: it alone came twice.
    #expect(apns.record.seen.count == 301)
    #expect(apns.server.connectionsTaken == 2)
  }

  @Test func `a GOAWAY after an answer keeps that answer`() throws {
    let apns = try StandIn { request, earlier in
      request.connection == 1 && earlier == 40
        ? .goAway(debug: "", after: HTTP2Response(status: 200)) : StandIn.ok
    }
    let transport = try apns.transport { $0.connectionsPerEnvironment = 1 }
    #expect(apns.push(requests(300), through: transport))
    #expect(apns.statuses == [200: 300])
    #expect(apns.record.seen.count == 300)
    #expect(apns.doubled.isEmpty)
  }

  @Test func `refused streams are sent again`() throws {
    let refused = Mutex<Set<String>>([])
    let apns = try StandIn { request, earlier in
      let id = request.header("apns-id") ?? ""
      let isFirst = refused.withLock { $0.insert(id).inserted }
      return earlier % 5 == 0 && isFirst ? .resetStream(errorCode: 7) : StandIn.ok
    }
    #expect(apns.push(requests(200), through: try apns.transport()))
    #expect(apns.statuses == [200: 200])
    #expect(apns.doubled.isEmpty)
  }

  @Test func `a stream refused again and again was never processed`() throws {
    let apns = try StandIn { _, _ in .resetStream(errorCode: 7) }
    let transport = try apns.transport { $0.resendsMax = 2 }
    #expect(apns.push([request(1)], through: transport))
    #expect(apns.outcomes[1] == .neverProcessed(because: "REFUSED_STREAM"))
    #expect(apns.record.seen.count == 3)
  }

  @Test func `a reset of another kind leaves the push unanswered`() throws {
    let apns = try StandIn { _, _ in .resetStream(errorCode: 2) }
    #expect(apns.push([request(1)], through: try apns.transport()))
    #expect(apns.outcomes[1] == .unanswered(because: "stream reset: INTERNAL_ERROR"))
    #expect(apns.record.seen.count == 1)
  }

  @Test func `D-4 a connection lost after the body leaves the push unanswered`() throws {
    let apns = try StandIn { _, earlier in earlier == 0 ? .dropConnection : StandIn.ok }
    let transport = try apns.transport()
    #expect(apns.push([request(1)], through: transport))
    guard case .unanswered = apns.outcomes[1] else {
      Issue.record("\(String(describing: apns.outcomes[1]))")
      return
    }
    #expect(apns.push([request(2)], through: transport))
    #expect(apns.status(2) == 200)
    #expect(apns.record.seen.count == 2)
  }

  @Test func `a connection that swallows everything costs one deadline`() throws {
    let apns = try StandIn { request, earlier in
      request.connection == 1 && earlier >= 5 ? .goDeaf : StandIn.ok
    }
    let transport = try apns.transport {
      $0.connectionsPerEnvironment = 1
      $0.requestTimeout = .seconds(1)
    }
    #expect(apns.push(requests(5), through: transport))
    let start = monotonicTime()
    #expect(apns.push([request(6)], through: transport))
    #expect(monotonicTime() - start < .seconds(3))
    #expect(apns.outcomes[6] == .unanswered(because: "no answer within 1000 ms"))
    #expect(apns.push([request(7)], through: transport))
    #expect(apns.status(7) == 200)
    #expect(apns.record.seen.last?.request.connection == 2)
  }

  @Test func `D-8 D-11 an answer that never comes ends with the deadline and frees the place`()
    throws
  {
    let apns = try StandIn { _, earlier in earlier % 2 == 1 ? .never : StandIn.ok }
    let transport = try apns.transport { $0.requestTimeout = .milliseconds(500) }
    #expect(apns.push(requests(100), through: transport))
    #expect(apns.statuses[200] ?? 0 >= 40)
    #expect(transport.inFlight == 0)
    #expect(apns.doubled.isEmpty)
  }

  @Test func `D-15 silence is met with a PING, and no answer to it with the end`()
    throws
  {
    let apns = try StandIn { _, _ in .goDeaf }
    let time = ManualTime()
    let transport = try apns.transport(time: time) { $0.requestTimeout = .seconds(600) }
    transport.send(request(1))
    #expect(apns.drive(transport) { apns.record.seen.count == 1 })
    // Twice: the last bytes of the greeting may only be read after the first silence.
    for _ in 0..<2 {
      time.advance(by: .seconds(4))
      apns.drive(transport, atMost: .milliseconds(20)) { false }
    }
    time.advance(by: .seconds(6))
    #expect(apns.drive(transport) { apns.outcomes.count == 1 })
    #expect(apns.outcomes[1] == .unanswered(because: "no answer to PING"))
  }

  @Test func `D-14 an idle connection is kept for hours`() throws {
    let apns = try StandIn()
    let time = ManualTime()
    let transport = try apns.transport(time: time)
    for number in 1...4 {
      #expect(apns.push([request(UInt64(number))], through: transport))
      time.advance(by: .seconds(3 * 60))
      #expect(apns.push([request(UInt64(number + 10))], through: transport))
      for _ in 0..<3 {
        time.advance(by: .seconds(1800))
        // The answer to a PING takes a moment of real time.
        apns.drive(transport, atMost: .milliseconds(50)) { false }
      }
    }
    #expect(apns.server.connectionsTaken == 1)
    #expect(apns.statuses == [200: 8])
  }

  @Test(arguments: [500, 503])
  func `a server error replaces the connection`(status: Int) throws {
    let apns = try StandIn { request, earlier in
      earlier == 1 ? StandIn.refusal(status, "InternalServerError") : StandIn.ok
    }
    let transport = try apns.transport()
    for number in UInt64(1)...4 { #expect(apns.push([request(number)], through: transport)) }
    #expect(apns.statuses == [200: 3, status: 1])
    #expect(apns.record.seen.map(\.request.connection) == [1, 1, 2, 2])
  }

  @Test func `D-3 D-6 never more connections than the cap`() throws {
    let apns = try StandIn { _, earlier in
      earlier % 3 == 2
        ? StandIn.refusal(500, "InternalServerError")
        : .respondAfter(.milliseconds(20), HTTP2Response(status: 200))
    }
    let transport = try apns.transport {
      $0.connectionsMax = 3
      $0.reconnectDelayLeast = .milliseconds(1)
      $0.reconnectDelayMost = .milliseconds(5)
    }
    let mixed = (1...300).map { request(UInt64($0), isProven: $0 % 2 == 0) }
    #expect(apns.push(mixed, through: transport, atMost: .seconds(60)))
    #expect(apns.connectionsSeen <= 3)
    #expect(apns.doubled.isEmpty)
    #expect(apns.server.connectionsTaken > 3)
  }

  @Test func `a connection that changed its token too often rests`() throws {
    let apns = try StandIn { _, earlier in
      earlier == 1 ? StandIn.refusal(429, "TooManyProviderTokenUpdates") : StandIn.ok
    }
    let time = ManualTime()
    let transport = try apns.transport(time: time) { $0.connectionsPerEnvironment = 1 }
    #expect(apns.push([request(1)], through: transport))
    #expect(apns.push([request(2)], through: transport))
    transport.send(request(3))
    #expect(!apns.drive(transport, atMost: .milliseconds(100)) { apns.outcomes.count == 3 })
    time.advance(by: .seconds(11))
    #expect(apns.drive(transport) { apns.outcomes.count == 3 })
    #expect(apns.status(3) == nil)
    time.advance(by: .seconds(20 * 60))
    #expect(apns.push([request(4)], through: transport))
    #expect(apns.status(4) == 200)
    #expect(apns.server.connectionsTaken == 1)
  }

  @Test func `while nobody listens nothing is taken, and pushes go when it is back`() throws {
    var apns = try StandIn()
    let port = apns.server.port
    var settings = try apns.settings()
    apns.server.stop()
    #expect(apns.drive(try apns.transport(), atMost: .seconds(5)) { apns.server.hasStopped })
    // The port stays ours to listen on again; the certificate must be the one that is trusted.
    let first = apns
    apns = try StandIn(port: port)
    apns.server.stop()
    settings.authorityFile = apns.authority.authorityFile
    #expect(first.drive(try first.transport(), atMost: .seconds(5)) { apns.server.hasStopped })
    settings.reconnectDelayMost = .milliseconds(300)
    let transport = try APNsTransport(
      settings: settings, tokens: StandIn.tokens(), time: SystemTime(), log: .discarding,
      metrics: .init())
    transport.send(request(1))
    #expect(apns.drive(transport) { transport.capacity == 0 })
    let again = try HTTP2Server(
      port: port, certificateFile: apns.identity.certificateFile, keyFile: apns.identity.keyFile
    ) { _ in StandIn.ok }
    #expect(apns.drive(transport) { apns.outcomes.count == 1 })
    #expect(apns.status(1) == 200)
    #expect(transport.capacity > 0)
    again.stop()
  }
}
