import Foundation
import Testing
import Vocabulary

@testable import Pushes

@Suite struct FCMRemedyTests {
  private let noon = UnixTime(milliseconds: 1_781_784_000_000)

  private func answer(
    _ status: Int, _ code: String? = nil, words: String = "no", namesFields: Bool = false,
    retryAfter: String? = nil
  ) -> FCMOutcome {
    var details: [JSONValue] = []
    if let code {
      details.append([
        "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(code),
      ])
    }
    if namesFields {
      details.append([
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [["field": "message.data"]],
      ])
    }
    let body: JSONValue = [
      "error": [
        "code": .integer(Int64(status)), "message": .string(words), "status": "STATE",
        "details": .array(details),
      ]
    ]
    return .answered(
      FCMAnswer(
        status: status, headers: retryAfter.map { ["retry-after": $0] } ?? [:], body: body.encoded,
        now: noon))
  }

  private func remedy(_ outcome: FCMOutcome) -> FCMRemedy {
    outcome.remedy(hasRenewedToken: false)
  }

  @Test func `the code is read before the status`() {
    #expect(remedy(answer(404, "UNREGISTERED")) == .pruneUnlessMany(because: "404 UNREGISTERED"))
    #expect(remedy(answer(400, "UNREGISTERED")) == .pruneUnlessMany(because: "400 UNREGISTERED"))
    #expect(
      remedy(answer(403, "SENDER_ID_MISMATCH"))
        == .pruneUnlessMany(because: "403 SENDER_ID_MISMATCH")
    )
    #expect(
      remedy(answer(401, "THIRD_PARTY_AUTH_ERROR"))
        == .incident(because: "401 THIRD_PARTY_AUTH_ERROR: no", wait: .seconds(600)))
  }

  @Test func `a 404 without a code is another project's, and prunes nobody`() {
    #expect(remedy(answer(404)) == .incident(because: "404 STATE: no", wait: .seconds(600)))
    #expect(remedy(answer(403)) == .incident(because: "403 STATE: no", wait: .seconds(600)))
  }

  @Test func `INVALID_ARGUMENT prunes only where FCM speaks of the token`() {
    let words = "The registration token is not a valid FCM registration token"
    #expect(
      remedy(answer(400, "INVALID_ARGUMENT", words: words))
        == .pruneUnlessMany(because: "400 INVALID_ARGUMENT"))
    #expect(
      remedy(answer(400, "INVALID_ARGUMENT", words: words, namesFields: true))
        == .dead(because: "400 INVALID_ARGUMENT: \(words)"))
    #expect(
      remedy(answer(400, "INVALID_ARGUMENT", words: "too big"))
        == .dead(because: "400 INVALID_ARGUMENT: too big"))
  }

  @Test func `a quota waits as long as it is told, else a minute`() {
    let words = "429 QUOTA_EXCEEDED"
    #expect(
      remedy(answer(429, "QUOTA_EXCEEDED")) == .retry(notBefore: .seconds(60), because: words))
    #expect(
      remedy(answer(429, "QUOTA_EXCEEDED", retryAfter: "7"))
        == .retry(notBefore: .seconds(7), because: words))
    #expect(
      remedy(answer(503, "UNAVAILABLE", retryAfter: "30"))
        == .retry(notBefore: .seconds(30), because: "503 UNAVAILABLE"))
    #expect(
      remedy(answer(500, "INTERNAL"))
        == .retry(notBefore: .seconds(10), because: "500 INTERNAL"))
  }

  @Test func `a 401 renews the access token once`() {
    #expect(remedy(answer(401)) == .renewToken(because: "401 STATE"))
    #expect(
      answer(401).remedy(hasRenewedToken: true)
        == .incident(because: "401 STATE: no", wait: .seconds(600)))
  }

  @Test func `only 200 is success, whatever else comes`() {
    for status in [0, 100, 201, 204, 302, 400, 404, 418, 429, 500, 599] {
      #expect(remedy(answer(status)) != .done, "\(status)")
      #expect(remedy(answer(status, "WHAT_NOBODY_KNOWS")) != .done, "\(status)")
    }
    #expect(remedy(answer(200)) == .done)
    #expect(
      remedy(.unanswered(because: "reset")) == .retry(notBefore: .seconds(5), because: "reset"))
  }
}
