import Foundation
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct WebPushRemedyTests {
  private func remedy(
    _ status: Int, _ reason: String? = nil, retryAfter: Duration? = nil, isShort: Bool = false,
    hasRenewedToken: Bool = false
  ) -> WebPushRemedy {
    WebPushOutcome.answered(WebPushAnswer(status: status, reason: reason, retryAfter: retryAfter))
      .remedy(isShort: isShort, hasRenewedToken: hasRenewedToken)
  }

  @Test(arguments: [200, 201, 202])
  func `F-5 what is taken is done`(status: Int) { #expect(remedy(status) == .done) }

  @Test(arguments: [404, 410])
  func `F-5 what is gone is pruned under the guard and not tried again`(status: Int) {
    #expect(remedy(status, "anything") == .pruneUnlessMany(because: "\(status)"))
  }

  @Test(arguments: [
    (400, "VapidPkHashMismatch"),
    (
      403,
      "the VAPID credentials in the authorization header do not correspond to the credentials used"
        + " to create the subscriptions."
    ), (401, "109 VAPID public key mismatch"),
  ])
  func `F-2 another key's subscription must be made anew`(status: Int, reason: String) {
    #expect(remedy(status, reason) == .markResubscribe(because: "\(status) \(reason)"))
  }

  @Test(arguments: [400, 405, 409, 418, 451])
  func `other refusals are dead and prune nothing`(status: Int) {
    #expect(remedy(status, "BadWebPushTopic") == .dead(because: "\(status) BadWebPushTopic"))
    #expect(remedy(status) == .dead(because: "\(status) without a reason"))
  }

  @Test(arguments: [401, 403])
  func `F-5 a refused token is renewed once, then a person has to act`(status: Int) {
    let words = "\(status) BadJwtToken"
    #expect(remedy(status, "BadJwtToken") == .renewToken(because: words))
    #expect(
      remedy(status, "BadJwtToken", hasRenewedToken: true)
        == .retry(notBefore: .seconds(600), because: words))
  }

  @Test func `F-5 what is too large goes out once in its short form`() {
    #expect(remedy(413) == .sendShortForm(because: "413 without a reason"))
    #expect(remedy(413, isShort: true) == .dead(because: "413 without a reason"))
  }

  @Test(
    arguments: [
      (429, nil, 30), (429, 10, 30), (429, 31, 31), (500, nil, 30), (503, 120, 120), (502, 1, 30),
      (408, nil, 30),
    ] as [(Int, Int?, Int)])
  func `F-5 what may pass is tried again, not sooner than asked`(
    status: Int, asked: Int?, wait: Int
  ) {
    let found = remedy(status, "x", retryAfter: asked.map { .seconds($0) })
    #expect(found == .retry(notBefore: .seconds(wait), because: "\(status) x"))
  }

  @Test(arguments: [300, 301, 302, 307, 308])
  func `a redirect is never followed`(status: Int) {
    #expect(
      remedy(status)
        == .dead(because: "\(status) without a reason; redirects are not followed"))
  }

  @Test(arguments: [0, 100, 203, 204, 299])
  func `an unknown status never counts as success`(status: Int) {
    #expect(
      remedy(status)
        == .retry(notBefore: .seconds(30), because: "\(status) without a reason"))
  }

  @Test func `without an answer it is tried again, to a private address never`() {
    let unanswered = WebPushOutcome.unanswered(because: "x")
    let forbidden = WebPushOutcome.forbidden(because: "x")
    #expect(
      unanswered.remedy(isShort: false, hasRenewedToken: false)
        == .retry(notBefore: .seconds(5), because: "x"))
    #expect(forbidden.remedy(isShort: false, hasRenewedToken: false) == .dead(because: "x"))
  }

  private func answer(_ status: Int, _ headers: [String: String] = [:], _ body: String = "")
    -> WebPushAnswer
  {
    WebPushAnswer(status: status, headers: headers, body: Data(body.utf8), now: Samples.noon)
  }

  @Test(
    arguments: [
      (#"{"reason":"BadJwtToken"}"#, "BadJwtToken"),
      (
        #"{"code":410,"errno":106,"error":"Gone","message":"No such subscription"}"#,
        "106 No such subscription"
      ),
      ("plain\r\n  text ", "plain text"), ("", nil), (" ", nil), ("[1]", "[1]"),
    ] as [(String, String?)])
  func `each service's reason is read`(body: String, reason: String?) {
    #expect(answer(400, [:], body).reason == reason)
  }

  @Test func `Windows gives its reason in a header, and long ones are cut`() {
    #expect(answer(400, ["x-wns-error-description": "Ttl value"]).reason == "Ttl value")
    let long = String(repeating: "a", count: 300)
    #expect(answer(400, [:], long).reason?.count == WebPushAnswer.reasonMax)
  }

  @Test(
    arguments: [
      ("120", 120), ("0", 0), ("-1", nil), ("soon", nil), ("Thu, 18 Jun 2026 12:00:30 GMT", 30),
      ("Thu, 18 Jun 2026 11:00:00 GMT", nil), ("999999", 86_400),
    ] as [(String, Int?)])
  func `Retry-After is seconds or a date`(text: String, seconds: Int?) {
    #expect(answer(429, ["retry-after": text]).retryAfter == seconds.map { .seconds($0) })
  }

  @Test func `the TTL that the service grants is read`() {
    #expect(answer(201, ["ttl": "60"]).ttl == 60)
    #expect(answer(201, ["ttl": "x"]).ttl == nil)
    #expect(answer(201, [:], "body").reason == nil)
  }
}
