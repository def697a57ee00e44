import Foundation
import HTTPServing
import ServiceRuntime
import Testing

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
      #expect(!connection.isReadable(within: 1700))
      connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
      #expect(try connection.answer().body == "POST|/||3|127.0.0.1")
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
