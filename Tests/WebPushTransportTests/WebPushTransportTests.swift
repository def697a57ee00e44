import Foundation
import HTTP2
import Pushes
import TestSupport
import Testing
import WebPushTransport

@Suite struct WebPushTransportTests {
  @Test func `a push arrives with its headers and its body octet for octet`() throws {
    let service = try PushServiceStandIn()
    let transport = service.transport()
    let body = Data((0..<4096).map { UInt8(truncatingIfNeeded: $0) })
    service.push(
      [try service.request(1, path: "/a/../b/./c?x=%2F", body: body)], through: transport)
    #expect(service.answer(1)?.status == 201)
    let seen = try #require(service.record.seen.first)
    #expect(seen.method == "POST")
    #expect(seen.path == "/a/../b/./c?x=%2F")
    #expect(seen.body == body)
    let headers = seen.headers.map { "\($0.name): \($0.value)" }
    for wanted in [
      "ttl: 7200", "urgency: high", "topic: \(WebPushTopic.of("key"))",
      "content-encoding: aes128gcm", "authorization: vapid t=a.b.c, k=d",
      "content-length: 4096",
    ] {
      #expect(headers.contains(wanted))
    }
    #expect(transport.inFlight == 0)
  }

  @Test func `a thousand pushes have one result each, over few connections`() throws {
    let service = try PushServiceStandIn()
    let transport = service.transport()
    let requests = try (1...1000).map { try service.request(UInt64($0)) }
    #expect(service.push(requests, through: transport))
    #expect(service.outcomes.count == 1000)
    #expect(service.doubled.isEmpty)
    #expect((1...1000).allSatisfy { service.answer($0)?.status == 201 })
    #expect(service.server.connectionsTaken <= 8)
  }

  @Test func `what a refusal says is read`() throws {
    let service = try PushServiceStandIn { request in
      .respond(
        HTTP2Response(
          status: 429, headers: [("retry-after", "17"), ("ttl", "5")],
          body: Data(#"{"reason":"TooManyRequests"}"#.utf8)))
    }
    service.push([try service.request(1)], through: service.transport())
    #expect(
      service.answer(1)
        == WebPushAnswer(
          status: 429, reason: "TooManyRequests", retryAfter: .seconds(17), ttl: 5))
  }

  @Test func `a redirect is an answer, and nobody goes there`() throws {
    let service = try PushServiceStandIn { request in
      .respond(HTTP2Response(status: 307, headers: [("location", "/elsewhere")]))
    }
    service.push([try service.request(1)], through: service.transport())
    #expect(service.answer(1)?.status == 307)
    #expect(service.record.seen.count == 1)
  }

  @Test func `an endless body is cut, and the answer stands`() throws {
    let service = try PushServiceStandIn { _ in
      .respond(HTTP2Response(status: 410, body: Data(repeating: 65, count: 1_000_000)))
    }
    let transport = service.transport()
    service.push([try service.request(1)], through: transport)
    #expect(service.answer(1)?.status == 410)
    // The transport goes on.
    service.push([try service.request(2)], through: transport)
    #expect(service.answer(2)?.status == 410)
  }

  @Test func `a name that leads to a private address is never connected to`() throws {
    let service = try PushServiceStandIn()
    let transport = service.transport()
    service.push([try service.request(1, lifts: false)], through: transport)
    guard case .forbidden(let reason)? = service.outcomes[1] else {
      Issue.record("\(String(describing: service.outcomes[1]))")
      return
    }
    #expect(reason.hasPrefix("localhost leads to an address that is not public: loopback"))
    service.push([try service.request(2, host: "127.0.0.1", lifts: false)], through: transport)
    #expect(service.reason(2)?.contains("loopback") == true)
    #expect(service.server.connectionsTaken == 0)
    #expect(service.record.seen.isEmpty)
  }

  @Test func `a certificate that nobody vouches for is refused`() throws {
    let service = try PushServiceStandIn()
    let transport = service.transport { $0.authorityFile = nil }
    service.push([try service.request(1)], through: transport)
    #expect(service.reason(1)?.contains("certificate") == true)
    #expect(service.record.seen.isEmpty)
  }

  @Test func `a name that is not there is no answer`() throws {
    let service = try PushServiceStandIn()
    service.push(
      [try service.request(1, host: "nowhere.invalid")], through: service.transport())
    #expect(service.reason(1)?.isEmpty == false)
    #expect(service.answer(1) == nil)
  }

  @Test func `a service that never answers is given up after the deadline`() throws {
    let service = try PushServiceStandIn { request in
      request.path == "/never" ? .never : PushServiceStandIn.taken
    }
    let transport = service.transport { $0.requestTimeout = .milliseconds(300) }
    let start = monotonicTime()
    service.push(
      [try service.request(1, path: "/never"), try service.request(2)], through: transport)
    #expect(service.reason(1) != nil)
    #expect(service.answer(2)?.status == 201)
    #expect(monotonicTime() - start < .seconds(5))
    #expect(transport.inFlight == 0)
  }

  @Test func `connections that end are made anew`() throws {
    let service = try PushServiceStandIn { request in
      request.path == "/drop" ? .dropConnection : PushServiceStandIn.taken
    }
    let transport = service.transport()
    service.push(
      [try service.request(1), try service.request(2, path: "/drop")], through: transport)
    #expect(service.reason(2) != nil)
    service.push([try service.request(3)], through: transport)
    #expect(service.answer(3)?.status == 201)
  }

  @Test func `no more are in flight than the limit, and closing gives all up`() throws {
    let service = try PushServiceStandIn { _ in .never }
    let transport = service.transport { $0.requestsMax = 3 }
    for number in 1...3 { transport.send(try service.request(UInt64(number))) }
    #expect(transport.capacity == 0)
    #expect(transport.inFlight == 3)
    _ = becomesTrue {
      _ = transport.advance()
      return service.record.seen.count == 3
    }
    #expect(service.record.seen.count == 3)
    transport.close()
    #expect(transport.inFlight == 0)
    #expect(transport.advance().isEmpty)
  }
}
