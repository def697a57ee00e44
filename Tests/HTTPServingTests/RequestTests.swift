import Foundation
import HTTPClient
import HTTPServing
import Testing

@Suite struct RequestTests {
  @Test func `a handler sees the whole request`() throws {
    let server = try TestServer.start { request in
      #expect(request.method == "POST")
      #expect(request.path == "/api/a/b c/ü")
      #expect(request.rawPath == "/api/a%2Fb%20c/%C3%BC")
      #expect(request.segments == ["api", "a/b c", "ü"])
      #expect(request.query("after") == "x y&z")
      #expect(request.query("limit") == "")
      #expect(request.query("none") == nil)
      #expect(request.header("If-Match") == "\"7\"")
      #expect(request.header("none") == nil)
      #expect(request.body == Data("hello".utf8))
      #expect(request.remoteAddress == "127.0.0.1")
      return .json(201, ["path": request.path])
    }
    let answer = try HTTPClient().send(
      "POST", "http://127.0.0.1:\(server.port)/api/a%2Fb%20c/%C3%BC?after=x+y%26z&limit",
      headers: ["If-Match": "\"7\""], body: Data("hello".utf8))
    #expect(answer.status == 201)
    #expect(answer.text == "{\"path\":\"/api/a/b c/ü\"}")
    #expect(answer.headers["content-type"] == "application/json")
  }

  @Test(arguments: ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW", "get"])
  func `any method reaches the handler`(method: String) throws {
    let server = try TestServer.start()
    let connection = try RawConnection(port: server.port)
    connection.send("\(method) /x HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try connection.answer().body == "\(method)|/x||0|127.0.0.1")
  }

  @Test func `requests sent at once are answered in order`() throws {
    let server = try TestServer.start()
    let connection = try RawConnection(port: server.port)
    connection.send(
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
        + "POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
        + "POST /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
        + "GET /4 HTTP/1.1\r\nHost: a\r\n\r\n")
    let bodies = try (0..<4).map { _ in try connection.answer().body }
    #expect(
      bodies == [
        "GET|/1||0|127.0.0.1", "POST|/2||3|127.0.0.1", "POST|/3||2|127.0.0.1",
        "GET|/4||0|127.0.0.1",
      ])
  }

  @Test(arguments: [
    ("/", "/", "", []), ("/a%2fb?x=1&x=2&y", "/a/b", "x=1;x=2;y=", ["a/b"]), ("*", "*", "", ["*"]),
    ("http://host:80/a?b=%2B", "/a", "b=+", ["a"]), ("http://host", "/", "", []),
    ("//a//b/", "//a//b/", "", ["a", "b"]), ("/a?b?c=d", "/a", "b?c=d", ["a"]),
  ])
  func `a target is taken apart`(text: String, path: String, query: String, segments: [String])
    throws
  {
    let target = try #require(RequestTarget(text))
    let request = HTTPRequest(method: "GET", target: target)
    #expect(request.path == path)
    #expect(request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ";") == query)
    #expect(request.segments == segments)
  }

  @Test(arguments: ["", "a", "/%", "/%4", "/%zz", "/%ff", "/?a=%f", "ftp://host/"])
  func `a target that is no path is refused`(text: String) {
    #expect(RequestTarget(text) == nil)
  }

  @Test(arguments: ["a", "A-z_0.9", String(repeating: "x", count: 64)])
  func `a good request id comes back`(id: String) throws {
    let server = try TestServer.start()
    let answer = try HTTPClient().send(
      "GET", "http://127.0.0.1:\(server.port)/", headers: ["X-Request-Id": id])
    #expect(answer.headers["x-request-id"] == id)
  }

  @Test(arguments: ["a b", "a\"b", "é", String(repeating: "x", count: 65)])
  func `another request id is replaced`(id: String) throws {
    let server = try TestServer.start()
    let answer = try HTTPClient().send(
      "GET", "http://127.0.0.1:\(server.port)/", headers: ["X-Request-Id": id])
    #expect(answer.headers["x-request-id"]?.wholeMatch(of: /[0-9a-f]{32}/) != nil)
  }

  @Test func `a header of the answer cannot be broken out of`() throws {
    let server = try TestServer.start { _ in
      HTTPResponse(status: 200, headers: [("x-a", "1\r\nx-b: 2"), ("x-c", "3")])
    }
    let answer = try HTTPClient().send("GET", "http://127.0.0.1:\(server.port)/")
    #expect(answer.headers["x-a"] == nil && answer.headers["x-b"] == nil)
    #expect(answer.headers["x-c"] == "3")
  }

  @Test func `many clients at once are all answered`() throws {
    let server = try TestServer.start()
    let url = "http://127.0.0.1:\(server.port)/many"
    let good = Lines()
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      let client = HTTPClient()
      for _ in 0..<200 {
        let answer = try? client.send("POST", url, body: Data(count: 1000))  // nil is counted below
        good.add(answer?.text ?? "none")
      }
    }
    #expect(good.all == Array(repeating: "POST|/many||1000|127.0.0.1", count: 1600))
  }
}
