import Foundation
import Testing
import Vocabulary

@testable import Pushes

@Suite struct FCMRemedyTests {
  private let noon = UnixTime(milliseconds: 1_781_784_000_000)

  private func answer(
    _ status: Int, _ code: String? = nil, words: String = "no", field: String? = nil,
    quotaOf subject: String? = nil, retryAfter: String? = nil
  ) -> FCMOutcome {
    var details: [JSONValue] = []
    if let code {
      details.append([
        "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(code),
      ])
    }
    if let field {
      details.append([
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [["field": .string(field)]],
      ])
    }
    if let subject {
      details.append([
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [["subject": .string(subject), "description": "too many"]],
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
        == .incident(because: "401 THIRD_PARTY_AUTH_ERROR: no"))
  }

  @Test func `a 404 without a code is another project's, and prunes nobody`() {
    #expect(remedy(answer(404)) == .incident(because: "404 STATE: no"))
    #expect(remedy(answer(403)) == .incident(because: "403 STATE: no"))
  }

  @Test func `INVALID_ARGUMENT prunes only where FCM speaks of the token`() {
    let words = "The registration token is not a valid FCM registration token"
    #expect(
      remedy(answer(400, "INVALID_ARGUMENT", words: words))
        == .pruneUnlessMany(because: "400 INVALID_ARGUMENT"))
    #expect(
      remedy(answer(400, "INVALID_ARGUMENT", words: words, field: "message.data"))
        == .dead(because: "400 INVALID_ARGUMENT: \(words)"))
    #expect(
      remedy(answer(400, "INVALID_ARGUMENT", words: "too big", field: "message.token"))
        == .pruneUnlessMany(because: "400 INVALID_ARGUMENT"))
    #expect(
      remedy(answer(400, "INVALID_ARGUMENT", words: "too big"))
        == .dead(because: "400 INVALID_ARGUMENT: too big"))
  }

  @Test func `a quota waits as long as it is told, else a minute`() {
    let words = "429 QUOTA_EXCEEDED"
    #expect(
      remedy(answer(429, "QUOTA_EXCEEDED")) == .waitUnlessMany(for: .seconds(60), because: words))
    #expect(
      remedy(answer(429, "QUOTA_EXCEEDED", retryAfter: "7"))
        == .waitUnlessMany(for: .seconds(7), because: words))
    #expect(
      remedy(answer(503, "UNAVAILABLE", retryAfter: "30"))
        == .retry(notBefore: .seconds(30), because: "503 UNAVAILABLE"))
    #expect(
      remedy(answer(500, "INTERNAL"))
        == .retry(notBefore: .seconds(10), because: "500 INTERNAL"))
  }

  @Test func `a limit is one phone's, unless FCM names the project or gives no code of its own`() {
    let words = "429 QUOTA_EXCEEDED"
    #expect(
      remedy(answer(429, "QUOTA_EXCEEDED", quotaOf: "device:x"))
        == .waitUnlessMany(for: .seconds(60), because: words))
    #expect(
      remedy(answer(429, "QUOTA_EXCEEDED", quotaOf: "project:x", retryAfter: "7"))
        == .pause(for: .seconds(7), because: words))
    #expect(remedy(answer(429)) == .pause(for: .seconds(60), because: "429 STATE"))
  }

  @Test func `a refusal of our credentials is a person's to mend, a silence is waited out`() {
    let refused = NoAccessToken("400 invalid_grant", isRefusal: true)
    #expect(
      remedy(.unauthorized(refused))
        == .incident(because: "no access token: 400 invalid_grant"))
    let silent = NoAccessToken("timeout", isRefusal: false)
    #expect(
      remedy(.unauthorized(silent))
        == .pause(for: .seconds(15), because: "no access token: timeout"))
  }

  @Test func `what says that FCM is ill, and what that it looks at messages`() {
    for ill in [answer(500), answer(503), answer(408), .unanswered(because: "reset")] {
      #expect(ill.isServiceFault)
      #expect(!ill.showsThatProjectMaySend)
    }
    for looked in [answer(200), answer(404, "UNREGISTERED"), answer(400, "INVALID_ARGUMENT")] {
      #expect(!looked.isServiceFault)
      #expect(looked.showsThatProjectMaySend)
    }
    #expect(!answer(429, "QUOTA_EXCEEDED").isServiceFault, "one phone's own")
    #expect(!answer(403).showsThatProjectMaySend)
  }

  @Test func `a 401 renews the access token once`() {
    #expect(remedy(answer(401)) == .renewToken(because: "401 STATE"))
    #expect(
      answer(401).remedy(hasRenewedToken: true)
        == .incident(because: "401 STATE: no"))
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
