import APNsTransport
import Foundation
import HTTP2
import Pipeline
import Pushes
import Synchronization
import TestSupport
import Testing
import Vocabulary

@Suite struct DeliveryTests {
  @Test func `A-16 B-1 B-3 a push carries every header of APNs`() throws {
    let apns = try StandIn { request, _ in
      .respond(
        HTTP2Response(
          status: 200,
          headers: [
            ("apns-id", request.header("apns-id") ?? ""), ("date", "Thu, 18 Jun 2026 12:00:00 GMT"),
          ]))
    }
    let transport = try apns.transport()
    let push = request(7, expiration: 0, collapseID: "cook")
    #expect(apns.push([push], through: transport))
    let seen = try #require(apns.record.seen.first).request
    let headers = seen.headers.map { "\($0.name): \($0.value)" }
    #expect(seen.method == "POST")
    #expect(seen.path == "/3/device/\(push.token.hex)")
    #expect(seen.body == push.body)
    #expect(
      headers == [
        "authorization: bearer jwt-1", "content-type: application/json", "content-length: 26",
        "apns-topic: app.example.cook.push-type.liveactivity", "apns-push-type: liveactivity",
        "apns-priority: 5", "apns-expiration: 0", "apns-collapse-id: cook",
        "apns-id: 00000000-0000-4000-8000-000000000007",
      ])
    #expect(
      apns.outcomes[7]
        == .answered(
          PushAnswer(
            status: 200, apnsID: "00000000-0000-4000-8000-000000000007", date: Samples.noon)))
  }

  @Test func `B-4 without expiration and collapse id there are no such headers`() throws {
    let apns = try StandIn()
    #expect(apns.push([request(1)], through: try apns.transport()))
    let seen = try #require(apns.record.seen.first).request
    #expect(seen.header("apns-expiration") == nil)
    #expect(seen.header("apns-collapse-id") == nil)
  }

  @Test func `a refusal is an answer with its reason and timestamp`() throws {
    let body = #"{"reason":"Unregistered","timestamp":1781784000000}"#
    let apns = try StandIn { _, _ in
      .respond(HTTP2Response(status: 410, body: Data(body.utf8)))
    }
    #expect(apns.push([request(1)], through: try apns.transport()))
    #expect(
      apns.outcomes[1]
        == .answered(PushAnswer(status: 410, reason: "Unregistered", timestamp: Samples.noon)))
  }

  @Test func `a connection carries one stream until the first push is accepted`() throws {
    let apns = try StandIn { _, earlier in
      earlier == 0
        ? .respondAfter(.milliseconds(150), HTTP2Response(status: 200)) : StandIn.ok
    }
    let transport = try apns.transport { $0.connectionsPerEnvironment = 1 }
    #expect(apns.push(requests(50), through: transport))
    let seen = apns.record.seen
    #expect(seen.count == 50)
    #expect(seen[1].at - seen[0].at >= .milliseconds(150))
    #expect(apns.server.connectionsTaken == 1)
  }

  @Test func `D-6 two hundred pushes at boot open no more than two connections`() throws {
    let apns = try StandIn { _, _ in
      .respondAfter(.milliseconds(5), HTTP2Response(status: 200))
    }
    #expect(apns.push(requests(200), through: try apns.transport()))
    #expect(apns.statuses == [200: 200])
    #expect(apns.server.connectionsTaken <= 2)
  }

  @Test func `C-1 a thousand pushes carry one authorization`() throws {
    let apns = try StandIn()
    #expect(apns.push(requests(1000), through: try apns.transport()))
    let all = Set(apns.record.seen.map { $0.request.header("authorization") })
    #expect(all == ["bearer jwt-1"])
    #expect(apns.statuses == [200: 1000])
  }

  @Test func `unproven tokens go on a connection of their own`() throws {
    let apns = try StandIn()
    let transport = try apns.transport()
    #expect(apns.push(requests(20), through: transport))
    #expect(apns.push(requests(20, from: 100, isProven: false), through: transport))
    let byConnection = Dictionary(grouping: apns.record.seen.map(\.request), by: \.connection)
    for requests in byConnection.values {
      let numbers = requests.map { UInt64($0.header("apns-id")?.suffix(12) ?? "") ?? 0 }
      #expect(numbers.allSatisfy { $0 < 100 } || numbers.allSatisfy { $0 >= 100 })
    }
    #expect(byConnection.count >= 2)
  }

  @Test func `D-3 streams follow SETTINGS down to one and up again`() throws {
    let server = Mutex<HTTP2Server?>(nil)
    let apns = try StandIn(maxConcurrentStreams: 500) { request, earlier in
      let isBad = earlier % 20 == 10
      server.withLock { $0 }?
        .setMaxConcurrentStreams(isBad ? 1 : 500, connection: request.connection)
      return isBad ? StandIn.refusal(400, "BadCollapseId") : StandIn.ok
    }
    server.withLock { $0 = apns.server }
    #expect(apns.push(requests(2000), through: try apns.transport()))
    #expect(apns.statuses == [200: 1900, 400: 100])
    #expect(apns.record.seen.count == 2000)
    #expect(apns.doubled.isEmpty)
    #expect(apns.server.connectionsTaken <= 2)
    server.withLock { $0 = nil }
  }

  @Test func `what is past its deadline is not sent`() throws {
    let apns = try StandIn()
    let time = ManualTime()
    let transport = try apns.transport(time: time)
    transport.send(request(1, deadline: Samples.noon))
    transport.send(request(2, deadline: Samples.noon + .milliseconds(1)))
    #expect(apns.drive(transport) { apns.outcomes.count == 2 })
    #expect(apns.status(2) == 200)
    guard case .neverProcessed = apns.outcomes[1] else {
      Issue.record("\(String(describing: apns.outcomes[1]))")
      return
    }
    #expect(apns.record.seen.count == 1)
  }

  @Test func `more than the transport takes is refused, not kept`() throws {
    let apns = try StandIn { _, _ in .never }
    let transport = try apns.transport { $0.inFlightMax = 10 }
    for push in requests(11) { transport.send(push) }
    #expect(transport.capacity == 0)
    #expect(transport.inFlight == 10)
    #expect(
      transport.advance().map(\.number) == [11])
    transport.close()
    #expect(transport.inFlight == 0)
  }
}
