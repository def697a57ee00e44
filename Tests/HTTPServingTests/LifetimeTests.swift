import Foundation
import HTTPClient
import HTTPServing
import ServiceRuntime
import Synchronization
import Testing

@Suite struct LifetimeTests {
  @Test(arguments: [true, false])
  func `draining refuses new connections and closes answered ones`(isPool: Bool) throws {
    let server = try TestServer.start(threading: isPool ? .pool(2) : .perConnection)
    let connection = try RawConnection(port: server.port)
    connection.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try connection.answer().headers["connection"]?.lowercased() != "close")
    server.drain()
    server.drain()
    #expect(eventually { (try? RawConnection(port: server.port)) == nil })
    connection.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
    let last = try connection.answer()
    #expect(last.body == "GET|/2||0|127.0.0.1")
    #expect(last.headers["connection"]?.lowercased() == "close")
    #expect(connection.isClosed())
    #expect(eventually { server.connections == 0 })
    server.stop()
  }

  @Test func `a request in work when draining begins is answered`() throws {
    let begun = StopSignal()
    let mayEnd = StopSignal()
    let server = try TestServer.start { _ in
      begun.raise()
      return mayEnd.wait(atMost: .seconds(10)) ? .text(200, "whole") : .empty(500)
    }
    let connection = try RawConnection(port: server.port)
    connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(begun.wait(atMost: .seconds(10)))
    server.drain()
    mayEnd.raise()
    #expect(try connection.answer().body == "whole")
    #expect(connection.isClosed())
  }

  @Test(arguments: [true, false])
  func `stopping closes everything and frees the port`(isPool: Bool) throws {
    let server = try TestServer.start(threading: isPool ? .pool(2) : .perConnection)
    let connection = try RawConnection(port: server.port)
    connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET")
    #expect(try connection.answer().status == 200)
    server.stop()
    server.stop()
    #expect(connection.isClosed())
    #expect(server.connections == 0)
    let address = ListenAddress(host: "127.0.0.1", port: server.port)
    let next = try HTTPServer(address: address, log: .discarding, handler: TestServer.echo)
    #expect(next.port == server.port)
  }

  @Test func `a server that nobody holds any more stops`() throws {
    var server: HTTPServer? = try TestServer.start()
    let port = try #require(server?.port)
    _ = try RawConnection(port: port)
    server = nil
    #expect(throws: RawConnection.Failure.self) { try RawConnection(port: port) }
  }

  @Test func `an address in use is named`() throws {
    let server = try TestServer.start()
    let address = ListenAddress(host: "127.0.0.1", port: server.port)
    let wanted = HTTPServerError.cannotListen(on: address, reason: "Address already in use")
    #expect(throws: wanted) {
      try HTTPServer(address: address, log: .discarding, handler: TestServer.echo)
    }
    #expect("\(wanted)" == "cannot listen on 127.0.0.1:\(server.port): Address already in use")
  }

  @Test(arguments: [
    ("127.0.0.1:80", "127.0.0.1", 80), (":0", "", 0), ("[::1]:8080", "::1", 8080),
    ("localhost:65535", "localhost", 65535),
  ])
  func `an address is read`(text: String, host: String, port: UInt16) throws {
    let address = try ListenAddress(text)
    #expect(address == ListenAddress(host: host, port: port))
    #expect("\(address)" == text)
  }

  @Test(arguments: ["", "80", "a", "a:", "a:b", "a:65536", "a:-1", "::1:80", "a:80/"])
  func `what is no address is refused`(text: String) {
    #expect(throws: HTTPServerError.badAddress(given: text)) { try ListenAddress(text) }
  }

  @Test func `IPv6 is listened on`() throws {
    let server = try HTTPServer(
      address: ListenAddress("[::1]:0"), log: .discarding, handler: TestServer.echo)
    let answer = try HTTPClient().send("GET", "http://[::1]:\(server.port)/six")
    #expect(answer.text == "GET|/six||0|::1")
  }

  // MARK: Streams

  @Test func `a stream is sent as it comes`() throws {
    let turn = Mutex(0)
    let go = StopSignal()
    let server = try TestServer.start(threading: .perConnection) { _ in
      .stream {
        switch turn.withLock({ turn in
          turn += 1; return turn
        }) {
        case 1: .data(Data("data: 1\n\n".utf8))
        case 2...3: go.wait(atMost: .milliseconds(20)) ? .wait : .wait
        case 4: .data(Data(repeating: UInt8(ascii: "~"), count: 100_000) + Data("data: 2\n\n".utf8))
        default: go.wait(atMost: .milliseconds(20)) ? .end : .wait
        }
      }
    }
    let connection = try RawConnection(port: server.port)
    connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    let start = try connection.read(until: "data: 1\n\n")
    #expect(start.lowercased().contains("content-type: text/event-stream"))
    let second = try connection.read(until: "data: 2\n\n")
    #expect(second.count { $0 == "~" } == 100_000)
    go.raise()
    #expect(try connection.read(until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
    #expect(connection.isClosed())
  }

  @Test(arguments: [true, false])
  func `a stream ends when the server does`(byDraining: Bool) throws {
    let server = try TestServer.start(threading: .perConnection) { _ in
      .stream {
        StopSignal().wait(atMost: .milliseconds(20))
        return .data(Data("data: x\n\n".utf8))
      }
    }
    let connection = try RawConnection(port: server.port)
    connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    _ = try connection.read(until: "data: x\n\n")
    if byDraining { server.drain() } else { server.stop() }
    _ = try connection.readToEnd()
    #expect(eventually { server.connections == 0 })
  }

  @Test func `a stream lasts longer than any deadline`() throws {
    let limits = HTTPLimits(requestSecondsMax: 1, idleSecondsMax: 1)
    let go = StopSignal()
    let server = try TestServer.start(limits: limits, threading: .perConnection) { _ in
      .stream { go.wait(atMost: .milliseconds(100)) ? .end : .wait }
    }
    let connection = try RawConnection(port: server.port)
    connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    _ = try connection.read(until: "\r\n\r\n")
    #expect(!connection.isReadable(within: 2500))
    go.raise()
    #expect(try connection.read(until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
  }

  @Test func `a peer that left ends its stream`() throws {
    let server = try TestServer.start(threading: .perConnection) { _ in
      .stream {
        StopSignal().wait(atMost: .milliseconds(20))
        return .data(Data("data: x\n\n".utf8))
      }
    }
    var connection: RawConnection? = try RawConnection(port: server.port)
    connection?.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    _ = try connection?.read(until: "data: x\n\n")
    connection = nil
    #expect(eventually { server.connections == 0 })
  }

  @Test func `a pool does not stream`() throws {
    let server = try TestServer.start { _ in .stream { .end } }
    #expect(try HTTPClient().send("GET", "http://127.0.0.1:\(server.port)/").status == 500)
  }
}
