import Foundation
import HTTPServing
import Testing

@Suite struct RefusalTests {
  @Test(arguments: [
    ("Host: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked", "stand together"),
    ("Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3", "stand together"),
    ("Host: a\r\nContent-Length: 3\r\nContent-Length: 3", "more than one Content-Length"),
    ("Host: a\r\nContent-Length: 3\r\ncontent-length: 4", "more than one Content-Length"),
    ("Host: a\r\nContent-Length: 0\r\nContent-Length: 0", "more than one Content-Length"),
    ("Host: a\r\nTransfer-Encoding: gzip, chunked", "must be chunked"),
    ("Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "must be chunked"),
    ("Host: a\r\nTransfer-Encoding: identity", "must be chunked"),
    ("X: y", "no Host"), ("Host: a\r\nHost: a", "more than one Host"),
    ("Host: a\r\nHost: b", "more than one Host"),
    ("Host: a\r\nContent-Length : 3", "no name may hold"),
    ("Host: a\r\nX Y: 3", "no name may hold"),
  ])
  func `an ambiguous header is answered 400 and the connection closed`(
    header: String, detail: String
  ) throws {
    let server = try TestServer.start { _ in
      Issue.record("the handler was called")
      return .empty(200)
    }
    let connection = try RawConnection(port: server.port)
    connection.send("POST / HTTP/1.1\r\nX-Request-Id: me\r\n\(header)\r\n\r\n")
    let answer = try connection.answer()
    #expect(answer.status == 400)
    #expect(answer.body.hasPrefix("refused: ") && answer.body.contains(detail))
    #expect(answer.headers["content-type"] == "application/problem+json")
    #expect(answer.headers["x-request-id"] == "me")
    #expect(answer.headers["connection"]?.lowercased() == "close")
    #expect(connection.isClosed())
  }

  @Test(arguments: ["-1", "+3", "3,3", "0x3", "99999999999999999999999", "3 3", ""])
  func `a length that is no decimal number never reaches the handler`(length: String) throws {
    let server = try TestServer.start { _ in
      Issue.record("the handler was called")
      return .empty(200)
    }
    let connection = try RawConnection(port: server.port)
    connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\nabc")
    // The library refuses these before us, and 0.9.75 writes its header twice.
    let answer = try connection.readToEnd()
    #expect(answer.hasPrefix("HTTP/1.1 400 ") || answer.hasPrefix("HTTP/1.1 413 "))
  }

  @Test func `HTTP 1.0 needs no Host`() throws {
    let server = try TestServer.start()
    let connection = try RawConnection(port: server.port)
    connection.send("GET /old HTTP/1.0\r\n\r\n")
    #expect(try connection.answer().body == "GET|/old||0|127.0.0.1")
    #expect(connection.isClosed())
  }

  @Test func `a broken target is answered 400`() throws {
    let server = try TestServer.start()
    let connection = try RawConnection(port: server.port)
    connection.send("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try connection.answer().status == 400)
    #expect(connection.isClosed())
  }

  // MARK: Size of the body

  private func post(_ count: Int) -> String {
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n"
  }

  @Test func `64 KiB of body are taken`() throws {
    let server = try TestServer.start()
    let connection = try RawConnection(port: server.port)
    connection.send(post(65536) + String(repeating: "x", count: 65536))
    #expect(try connection.answer().body == "POST|/||65536|127.0.0.1")
  }

  @Test func `an announced byte more is answered 413 at once`() throws {
    let server = try TestServer.start()
    let connection = try RawConnection(port: server.port)
    connection.send(post(65537))
    let answer = try connection.answer()
    #expect(answer.status == 413)
    #expect(answer.body == "refused: The body is longer than 65536 bytes.")
    #expect(answer.headers["x-request-id"] != nil)
    #expect(connection.isClosed())
  }

  @Test(arguments: [65537, 300_000])
  func `a client that sends all of it first still reads the 413`(count: Int) throws {
    let server = try TestServer.start()
    for _ in 0..<50 {
      let connection = try RawConnection(port: server.port)
      connection.send(post(count) + String(repeating: "x", count: count))
      #expect(try connection.answer().status == 413)
    }
  }

  @Test func `a client that asks first is told 413 instead of 100`() throws {
    let server = try TestServer.start()
    let connection = try RawConnection(port: server.port)
    let header = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: "
    connection.send("\(header)65537\r\n\r\n")
    #expect(try connection.answer().status == 413)
    let other = try RawConnection(port: server.port)
    other.send("\(header)3\r\n\r\n")
    #expect(try other.answer().status == 100)
    other.send("abc")
    #expect(try other.answer().body == "POST|/||3|127.0.0.1")
  }

  @Test(arguments: [(65536, 200), (65537, 413), (200_000, 413)])
  func `a chunked body is counted`(count: Int, status: Int) throws {
    let server = try TestServer.start()
    let connection = try RawConnection(port: server.port)
    connection.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    var rest = count
    while rest > 0 {
      let piece = min(rest, 5000)
      connection.send(
        "\(String(piece, radix: 16))\r\n\(String(repeating: "x", count: piece))\r\n")
      rest -= piece
    }
    connection.send("0\r\n\r\n")
    let answer = try connection.answer()
    #expect(answer.status == status)
    if status == 413 { #expect(connection.isClosed()) }
  }

  @Test func `a chunked body without an end is cut off`() throws {
    let server = try TestServer.start()
    let connection = try RawConnection(port: server.port)
    connection.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    let chunk = "10000\r\n\(String(repeating: "x", count: 65536))\r\n"
    var chunks = 0
    while chunks < 1000, connection.send(chunk) { chunks += 1 }
    #expect((16..<200).contains(chunks))
  }

  // MARK: Size of the header

  private func get(headerBytes: Int) -> String {
    let start = "GET / HTTP/1.1\r\nHost: a\r\nX: "
    let end = "\r\n\r\n"
    let filling = headerBytes - start.utf8.count - end.utf8.count
    return start + String(repeating: "x", count: filling) + end
  }

  @Test func `16 KiB of header are taken`() throws {
    let server = try TestServer.start()
    let connection = try RawConnection(port: server.port)
    connection.send(get(headerBytes: 16384))
    #expect(try connection.answer().status == 200)
  }

  @Test(arguments: [16386, 20000, 32768, 60000])
  func `more is answered 431 in our words`(bytes: Int) throws {
    let server = try TestServer.start()
    let connection = try RawConnection(port: server.port)
    connection.send(get(headerBytes: bytes))
    let answer = try connection.answer()
    #expect(answer.status == 431)
    #expect(answer.body == "refused: The header is longer than 16384 bytes.")
    #expect(connection.isClosed())
  }

  @Test func `very much more is refused by the library`() throws {
    let server = try TestServer.start()
    let connection = try RawConnection(port: server.port)
    connection.send(get(headerBytes: 1_000_000))
    // It closes with octets unread, so the answer may be lost on the way.
    let answer = try? connection.readToEnd()
    #expect(answer == nil || answer?.hasPrefix("HTTP/1.1 431") == true)
  }
}
