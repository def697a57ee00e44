import Foundation
import HTTPClient
import HTTPServing
import ServiceRuntime
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct SocketTests {
  @Test func `the API answers over a socket, and refuses 65 KiB with a problem`() throws {
    let world = try World()
    let server = try HTTPServer(
      address: ListenAddress(host: "127.0.0.1", port: 0), log: .discarding,
      refusal: API.refusal, handler: { world.api.handle($0) })
    defer { server.stop() }
    let client = HTTPClient()
    let base = "http://127.0.0.1:\(server.port)"
    let headers = [
      "authorization": "Bearer \(world.token("dennis"))", "content-type": "application/json",
    ]
    func post(_ body: JSONValue) throws -> HTTPClientResponse {
      try client.send("POST", base + World.sessions, headers: headers, body: body.encoded)
    }

    let created = try post(["date": "2026-06-18"])
    #expect(created.status == 201)
    #expect(created.headers["x-request-id"] != nil)
    let location = try #require(created.headers["location"])

    let tooLong = try post(["date": .string(String(repeating: "x", count: 65 * 1024))])
    #expect(tooLong.status == 413)
    #expect(tooLong.headers["content-type"] == "application/problem+json")
    #expect(tooLong.headers["x-request-id"] != nil)
    #expect(try JSONValue(parsing: tooLong.body)["type"] == "/problems/body-too-large")

    let seen = try client.send(
      "GET", base + location, headers: headers.merging(["if-none-match": #""1""#]) { $1 })
    #expect(seen.status == 304)
    #expect(seen.body.isEmpty)
    let head = try client.send("GET", base + "/api/nothing")
    #expect(head.status == 404)
  }
}
