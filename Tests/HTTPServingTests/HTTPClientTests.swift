import Foundation
import HTTPClient
import HTTPServing
import ServiceRuntime
import Testing

@Suite struct HTTPClientTests {
  @Test func `the connection is used again`() throws {
    let server = try TestServer.start()
    let client = HTTPClient()
    for round in 0..<20 {
      let answer = try client.send("GET", "http://127.0.0.1:\(server.port)/\(round)")
      #expect(answer.text == "GET|/\(round)||0|127.0.0.1")
    }
    #expect(server.connections == 1)
  }

  @Test(arguments: ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "BREW"])
  func `one request does not leak into the next`(method: String) throws {
    let seen = Lines()
    let server = try TestServer.start { request in
      seen.add("\(request.method) \(request.body.count) \(request.header("x-a") ?? "-")")
      return .text(200, "body")
    }
    let client = HTTPClient()
    let url = "http://127.0.0.1:\(server.port)/"
    _ = try client.send("POST", url, headers: ["x-a": "1"], body: Data(count: 5))
    let answer = try client.send(method, url)
    #expect(seen.all == ["POST 5 1", "\(method) 0 -"])
    #expect(answer.text == (method == "HEAD" ? "" : "body"))
  }

  @Test func `a body of any method is sent, and nobody is asked before`() throws {
    let seen = Lines()
    let server = try TestServer.start { request in
      seen.add("\(request.body.count) \(request.header("expect") ?? "-")")
      return .empty(204)
    }
    let client = HTTPClient()
    for method in ["POST", "PUT", "DELETE", "GET"] {
      let answer = try client.send(
        method, "http://127.0.0.1:\(server.port)/", body: Data(count: 60000))
      #expect(answer.status == 204 && answer.body.isEmpty)
    }
    #expect(seen.all == Array(repeating: "60000 -", count: 4))
  }

  @Test func `a redirect is an answer`() throws {
    let server = try TestServer.start { request in
      request.path == "/"
        ? HTTPResponse(status: 302, headers: [("location", "/other")]) : .text(200, "followed")
    }
    let answer = try HTTPClient().send("GET", "http://127.0.0.1:\(server.port)/")
    #expect(answer.status == 302)
    #expect(answer.headers["location"] == "/other")
  }

  @Test func `repeated header fields are joined`() throws {
    let server = try TestServer.start { _ in
      HTTPResponse(status: 200, headers: [("X-A", "1"), ("x-a", "2")])
    }
    let answer = try HTTPClient().send("GET", "http://127.0.0.1:\(server.port)/")
    #expect(answer.headers["x-a"] == "1, 2")
  }

  @Test func `an error says what was tried and why, without the password`() throws {
    let port = try TestServer.start().port
    var text = ""
    do throws(HTTPClientError) {
      _ = try HTTPClient().send("GET", "http://user:secret@127.0.0.1:\(port)/x")
    } catch { text = "\(error)" }
    #expect(text.hasPrefix("GET http://127.0.0.1:\(port)/x failed: Failed to connect"))
  }

  @Test(arguments: ["ftp://127.0.0.1/", "file:///etc/hostname", "x", "", "http://"])
  func `only http and https are spoken`(url: String) {
    #expect(throws: HTTPClientError.self) { try HTTPClient().send("GET", url) }
  }

  @Test func `a header cannot be broken out of`() throws {
    let server = try TestServer.start()
    #expect(throws: HTTPClientError.self) {
      try HTTPClient().send(
        "GET", "http://127.0.0.1:\(server.port)/", headers: ["x-a": "1\r\nx-b: 2"])
    }
  }

  @Test func `an answer that does not come in time is an error`() throws {
    let go = StopSignal()
    let server = try TestServer.start(threading: .perConnection) { _ in
      go.wait(atMost: .seconds(10))
      return .empty(200)
    }
    let client = HTTPClient(timeout: .milliseconds(300))
    let begin = ContinuousClock.now
    #expect(throws: HTTPClientError.self) {
      try client.send("GET", "http://127.0.0.1:\(server.port)/")
    }
    #expect(ContinuousClock.now - begin < .seconds(5))
    go.raise()
  }
}
