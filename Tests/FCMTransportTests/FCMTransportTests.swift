import Cryptography
import FCMTransport
import Foundation
import HTTP2
import HTTPClient
import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct FCMTransportTests {
  private func header(_ name: String, _ request: HTTP2Request) -> String? {
    request.headers.first { $0.name == name }.map { "\($0.value)" }
  }

  @Test func `a message goes out with an access token that the account's assertion was given for`()
    throws
  {
    let google = try FCMStandIn()
    let transport = try google.transport()
    google.send(google.requests(1...1), through: transport)
    #expect(google.status(1) == 200)
    #expect(google.results[1]?.accessToken == 1)
    let asked = try #require(google.record.tokens.first)
    #expect(header("content-type", asked) == "application/x-www-form-urlencoded")
    let form = String(decoding: asked.body, as: UTF8.self)
    let assertion = try #require(form.split(separator: "assertion=").last).description
    #expect(try JSONWebToken(assertion).isSigned(by: google.key))
    let message = try #require(google.record.messages.first)
    #expect(message.method == "POST")
    #expect(message.path == "/v1/projects/cook-example/messages:send")
    #expect(header("authorization", message) == "Bearer ya29.1")
    #expect(header("content-type", message) == "application/json")
    #expect(message.body == Data(#"{"message":{"n":1}}"#.utf8))
  }

  @Test func `a thousand messages ask for one access token, and have one result each`() throws {
    let google = try FCMStandIn()
    let transport = try google.transport()
    #expect(google.send(google.requests(1...1000), through: transport))
    #expect(google.record.tokens.count == 1)
    #expect(google.doubled.isEmpty)
    #expect((1...1000).allSatisfy { google.status($0) == 200 })
    #expect(transport.inFlight == 0)
  }

  @Test func `an idle transport asks for nothing`() throws {
    let google = try FCMStandIn()
    let transport = try google.transport()
    for _ in 0..<3 { #expect(transport.advance().isEmpty) }
    #expect(google.record.seen.isEmpty)
  }

  @Test func `a refused access token is replaced once, however many messages it was refused to`()
    throws
  {
    let google = try FCMStandIn(message: { _, request in
      let isOld = request.headers.contains {
        $0.name == "authorization" && $0.value == "Bearer ya29.1"
      }
      return isOld
        ? FCMStandIn.respond(401, ["error": ["status": "UNAUTHENTICATED"]]) : FCMStandIn.taken
    })
    let transport = try google.transport()
    google.send(google.requests(1...20), through: transport)
    #expect((1...20).allSatisfy { google.status($0) == 401 })
    for number in UInt64(1)...20 {
      if let token = google.results[number]?.accessToken {
        transport.renewAccessToken(refused: token)
      }
    }
    google.send(google.requests(21...40), through: transport)
    #expect((21...40).allSatisfy { google.status($0) == 200 })
    #expect(google.record.tokens.count == 2)
    // A late refusal of the old one does not throw the new one away.
    transport.renewAccessToken(refused: 1)
    google.send(google.requests(41...41), through: transport)
    #expect(google.record.tokens.count == 2)
  }

  @Test func `an access token is renewed before it ends, and the old one serves meanwhile`() throws
  {
    let google = try FCMStandIn()
    let transport = try google.transport()
    google.send(google.requests(1...1), through: transport)
    google.time.advance(by: .seconds(3301))
    google.send(google.requests(2...2), through: transport)
    google.send(google.requests(3...3), through: transport)
    #expect((1...3).allSatisfy { google.status($0) == 200 })
    #expect(google.record.tokens.count == 2)
    #expect(google.results[3]?.accessToken == 2)
  }

  // MARK: The token endpoint in trouble

  @Test
  func `credentials that Google refuses end messages as unauthorized, and are asked of rarely`()
    throws
  {
    let google = try FCMStandIn(token: { _, _ in
      FCMStandIn.respond(
        400, ["error": "invalid_grant", "error_description": "Invalid JWT Signature."])
    })
    let transport = try google.transport()
    google.send(google.requests(1...5), through: transport)
    let none = NoAccessToken("400 invalid_grant Invalid JWT Signature.", isRefusal: true)
    #expect((1...5).allSatisfy { google.withoutToken($0) == none })
    #expect(google.results[1]?.accessToken == nil)
    google.send(google.requests(6...10), through: transport)
    #expect(google.record.tokens.count == 1, "not before ten seconds")
    #expect(google.record.messages.isEmpty)
    #expect(transport.inFlight == 0)
  }

  @Test func `a token endpoint that fails is nobody's mistake, and is asked again`() throws {
    let google = try FCMStandIn(token: { nth, _ in
      nth == 1 ? FCMStandIn.respond(503, [:]) : FCMStandIn.granted(nth)
    })
    let transport = try google.transport()
    google.send(google.requests(1...1), through: transport)
    #expect(google.withoutToken(1) == NoAccessToken("503", isRefusal: false))
    google.time.advance(by: .seconds(10))
    google.send(google.requests(2...2), through: transport)
    #expect(google.status(2) == 200)
  }

  @Test func `a token endpoint that does not answer is given up after the deadline`() throws {
    let google = try FCMStandIn(token: { _, _ in .never })
    let transport = try google.transport { $0.requestTimeout = .milliseconds(300) }
    let start = monotonicTime()
    google.send(google.requests(1...3), through: transport)
    #expect((1...3).allSatisfy { google.withoutToken($0)?.isRefusal == false })
    #expect(monotonicTime() - start < .seconds(5))
    #expect(google.record.messages.isEmpty)
  }

  @Test func `a token endpoint that drops the connection is no answer`() throws {
    let illness = Illness()
    let google = try FCMStandIn(token: { nth, _ in
      illness.isOn ? .dropConnection : FCMStandIn.granted(nth)
    })
    let transport = try google.transport()
    google.send(google.requests(1...1), through: transport)
    #expect(google.withoutToken(1)?.isRefusal == false)
    illness.heal()
    google.time.advance(by: .seconds(10))
    google.send(google.requests(2...2), through: transport)
    #expect(google.status(2) == 200)
  }

  @Test func `an answer that is no access token grants nothing`() throws {
    let google = try FCMStandIn(token: { _, _ in
      .respond(HTTP2Response(status: 200, body: Data("<html>".utf8)))
    })
    google.send(google.requests(1...1), through: try google.transport())
    #expect(google.withoutToken(1) == NoAccessToken("200", isRefusal: false))
  }

  // MARK: FCM in trouble

  @Test func `what a refusal says is read`() throws {
    let google = try FCMStandIn(message: { _, _ in
      FCMStandIn.respond(
        429,
        [
          "error": [
            "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded",
            "details": [
              [
                "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
                "errorCode": "QUOTA_EXCEEDED",
              ]
            ],
          ]
        ], [("retry-after", "17")])
    })
    google.send(google.requests(1...1), through: try google.transport())
    #expect(
      google.results[1]?.outcome
        == .answered(
          FCMAnswer(
            status: 429, errorCode: "QUOTA_EXCEEDED", state: "RESOURCE_EXHAUSTED",
            words: "Quota exceeded", retryAfter: .seconds(17))))
  }

  @Test func `FCM that never answers is given up after the deadline, the others are not`() throws {
    let google = try FCMStandIn(message: { _, request in
      request.body == Data(#"{"message":{"n":1}}"#.utf8) ? .never : FCMStandIn.taken
    })
    let transport = try google.transport { $0.requestTimeout = .milliseconds(500) }
    google.send(google.requests(1...2), through: transport)
    #expect(google.silence(1) != nil)
    #expect(google.status(2) == 200)
    #expect(transport.inFlight == 0)
  }

  @Test func `a connection that is reset is no answer, and is made anew`() throws {
    let illness = Illness()
    let google = try FCMStandIn(message: { _, _ in
      illness.isOn ? .dropConnection : FCMStandIn.taken
    })
    let transport = try google.transport()
    google.send(google.requests(1...1), through: transport)
    #expect(google.silence(1) != nil)
    illness.heal()
    google.send(google.requests(2...2), through: transport)
    #expect(google.status(2) == 200)
    #expect(google.record.tokens.count == 1, "the token is still good")
  }

  @Test func `a redirect is an answer, and nobody goes there with the token`() throws {
    let google = try FCMStandIn(message: { _, _ in
      .respond(HTTP2Response(status: 307, headers: [("location", "/elsewhere")]))
    })
    google.send(google.requests(1...1), through: try google.transport())
    #expect(google.status(1) == 307)
    #expect(google.record.messages.count == 1)
  }

  @Test func `a certificate that nobody vouches for gets neither assertion nor message`() throws {
    let google = try FCMStandIn()
    let transport = try google.transport { $0.authorityFile = nil }
    google.send(google.requests(1...1), through: transport)
    #expect(google.withoutToken(1)?.isRefusal == false)
    #expect(google.record.seen.isEmpty)
  }

  @Test func `no more are in flight than the limit, and closing gives all up`() throws {
    let google = try FCMStandIn(message: { _, _ in .never })
    let transport = try google.transport { $0.requestsMax = 3 }
    for request in google.requests(1...3) { transport.send(request) }
    #expect(transport.capacity == 0)
    #expect(transport.inFlight == 3)
    #expect(
      becomesTrue {
        _ = transport.advance()
        return google.record.messages.count == 3
      })
    transport.close()
    #expect(transport.inFlight == 0)
    #expect(transport.advance().isEmpty)
  }
}
