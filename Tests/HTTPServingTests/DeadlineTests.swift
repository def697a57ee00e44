import Foundation
import ServiceRuntime
import Testing

@testable import HTTPServing

@Suite struct DeadlineTests {
  private let limits = HTTPLimits(requestSecondsMax: 1, idleSecondsMax: 5)

  /// Sends `start`, then a byte every 50 ms.
  ///
  /// - Returns: after how long the server closed the connection; nil when it did not.
  private func trickle(_ start: String, on connection: RawConnection) -> Duration? {
    let begin = ContinuousClock.now
    connection.send(start)
    while ContinuousClock.now - begin < .seconds(8) {
      if connection.isReadable(within: 50) {
        return connection.isClosed() ? ContinuousClock.now - begin : nil
      }
      connection.send("x")
    }
    return nil
  }

  @Test(arguments: [
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX: ", "GET / HTTP/1.1\r\n", "G",
  ])
  func `a sender that trickles is cut off at the deadline`(start: String) throws {
    let server = try TestServer.start(limits: limits)
    let connection = try RawConnection(port: server.port)
    let time = try #require(trickle(start, on: connection))
    #expect(time > .milliseconds(900) && time < .seconds(4))
    #expect(eventually { server.connections == 0 })
  }

  @Test(arguments: ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n", "G"])
  func `a later request on the same connection has the same deadline`(start: String) throws {
    let server = try TestServer.start(limits: limits)
    let connection = try RawConnection(port: server.port)
    for _ in 0..<3 {
      connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try connection.answer().status == 200)
    }
    let time = try #require(trickle(start, on: connection))
    #expect(time > .milliseconds(900) && time < .seconds(4))
  }

  @Test func `silence between requests does not count`() throws {
    let server = try TestServer.start(limits: limits)
    let connection = try RawConnection(port: server.port)
    for _ in 0..<2 {
      connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
      #expect(try connection.answer().body == "POST|/||3|127.0.0.1")
      #expect(!connection.isReadable(within: 1700))
    }
  }

  @Test func `the handler's own time does not count`() throws {
    let server = try TestServer.start(limits: limits) { _ in
      StopSignal().wait(atMost: .milliseconds(1800))
      return .text(200, "late")
    }
    let connection = try RawConnection(port: server.port)
    connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try connection.answer().body == "late")
  }

  @Test func `a peer that does not take its answer is cut off`() throws {
    let server = try TestServer.start(limits: limits) { _ in
      HTTPResponse(status: 200, body: Data(count: 30_000_000))
    }
    let connection = try RawConnection(port: server.port)
    connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(eventually { server.connections == 1 })
    #expect(eventually { server.connections == 0 })
  }

  @Test(arguments: [
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\nabc",
    "GET / HTTP/1.1\r\nHost", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "G", "",
  ])
  func `peers that give up do not keep others out`(sent: String) throws {
    let server = try TestServer.start(limits: HTTPLimits(connectionsMax: 20))
    for _ in 0..<100 {
      let connection = try RawConnection(port: server.port)
      connection.send(sent)
    }
    let connection = try RawConnection(port: server.port)
    connection.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try connection.answer().body == "GET|/next||0|127.0.0.1")
  }

  @Test(arguments: ["", "G", "GET / HTTP/1.1\r\nHost: a\r\nX: "])
  func `a head has a deadline of its own, however it trickles`(start: String) throws {
    let server = try TestServer.start(limits: HTTPLimits(headSecondsMax: 1))
    let connection = try RawConnection(port: server.port)
    let time = try #require(trickle(start, on: connection))
    #expect(time > .milliseconds(900) && time < .seconds(4))
  }

  @Test func `a new connection that says nothing is closed as one without a head`() throws {
    let server = try TestServer.start(limits: HTTPLimits(headSecondsMax: 1))
    #expect(try RawConnection(port: server.port).isClosed())
  }

  @Test func `a body, and silence between requests, may last longer than a head`() throws {
    let server = try TestServer.start(limits: HTTPLimits(headSecondsMax: 1))
    let connection = try RawConnection(port: server.port)
    for _ in 0..<2 {
      connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
      #expect(!connection.isReadable(within: 1700))
      connection.send("abc")
      #expect(try connection.answer().body == "POST|/||3|127.0.0.1")
      #expect(!connection.isReadable(within: 1700))
    }
  }

  @Test func `the time that a request waits for our thread does not count`() throws {
    let server = try TestServer.start(limits: HTTPLimits(headSecondsMax: 1), threading: .pool(1)) {
      if $0.path == "/slow" { StopSignal().wait(atMost: .milliseconds(2200)) }
      return .text(200, $0.path)
    }
    let (slow, waiting) = try (RawConnection(port: server.port), RawConnection(port: server.port))
    waiting.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try waiting.answer().body == "/first")
    slow.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(!slow.isReadable(within: 200))
    waiting.send("GET /second HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try waiting.answer().body == "/second")
    #expect(try slow.answer().body == "/slow")
  }

  @Test func `where there is little room nobody holds a connection for long`() {
    let limits = HTTPLimits(connectionsMax: 100)
    let usual = Deadlines(head: .seconds(10), request: .seconds(30), idle: .seconds(30))
    let short = Deadlines(head: .seconds(2), request: .seconds(2), idle: .seconds(2))
    for (connections, wanted) in [(0, usual), (74, usual), (75, short), (100, short)] {
      #expect(limits.deadlines(connections: connections) == wanted, "\(connections)")
    }
    for (descriptors, connections) in [(1024, 100), (150, 75), (0, 1), (Int.max, 100)] {
      #expect(limits.fitting(descriptorsMax: descriptors).connectionsMax == connections)
    }
  }

  @Test(arguments: [
    "", "G", "GET / HTTP/1.1\r\nHost: a\r\nX: ", "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\nabc",
  ])
  func `peers that only hold their connections do not keep others out`(sent: String) throws {
    let server = try TestServer.start(limits: HTTPLimits(connectionsMax: 20))
    let halfOpen = try (0..<50).map { _ in try RawConnection(port: server.port) }
    for connection in halfOpen { connection.send(sent) }
    let connection = try RawConnection(port: server.port)
    connection.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try connection.answer().body == "GET|/next||0|127.0.0.1")
    #expect(halfOpen.count == 50)
  }

  @Test func `a peer that only ends its own side is answered`() throws {
    let server = try TestServer.start { request in
      StopSignal().wait(atMost: .milliseconds(800))
      return .text(200, "\(request.body.count)")
    }
    let connection = try RawConnection(port: server.port)
    connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
    connection.endSending()
    #expect(try connection.answer().body == "3")
  }

  @Test func `a silent connection is closed`() throws {
    let server = try TestServer.start(limits: HTTPLimits(idleSecondsMax: 1))
    let connection = try RawConnection(port: server.port)
    connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try connection.answer().status == 200)
    #expect(connection.isClosed())
  }
}
