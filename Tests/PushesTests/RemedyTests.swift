import Pushes
import Testing
import Vocabulary

@Suite struct RemedyTests {
  struct Row: CustomTestStringConvertible {
    let status: Int
    let reason: String?
    var isLiveActivity = true
    var isProven = true
    var triedOtherEnvironment = false
    var isBroadcast = false
    var retryAfter: Duration?
    let remedy: Remedy

    var testDescription: String { "\(status) \(reason ?? "–")" }
  }

  static let table: [Row] = [
    Row(status: 200, reason: nil, remedy: .done),
    // Nobody registers a channel again: a person has to hear of each of these.
    Row(
      status: 400, reason: "ChannelNotRegistered", isBroadcast: true,
      remedy: .dead(because: "400 ChannelNotRegistered")),
    Row(
      status: 400, reason: "BadChannelId", isBroadcast: true,
      remedy: .dead(because: "400 BadChannelId")),
    Row(
      status: 400, reason: "BadDeviceToken", isProven: false, isBroadcast: true,
      remedy: .dead(because: "400 BadDeviceToken")),
    Row(
      status: 410, reason: "Unregistered", isBroadcast: true,
      remedy: .dead(because: "410 Unregistered")),
    Row(
      status: 400, reason: "FeatureNotEnabled", isBroadcast: true,
      remedy: .openLane(because: "400 FeatureNotEnabled")),
    Row(
      status: 410, reason: "Unregistered",
      remedy: .pruneToken(because: "Unregistered", diedAt: UnixTime(milliseconds: 1234))),
    Row(
      status: 410, reason: "ExpiredToken",
      remedy: .pruneToken(because: "ExpiredToken", diedAt: UnixTime(milliseconds: 1234))),
    Row(
      status: 410, reason: nil,
      remedy: .pruneToken(because: "Unregistered", diedAt: UnixTime(milliseconds: 1234))),
    Row(
      status: 400, reason: "DeviceTokenNotForTopic",
      remedy: .pruneTokenUnlessMany(because: "DeviceTokenNotForTopic")),
    Row(
      status: 400, reason: "BadDeviceToken",
      remedy: .pruneTokenUnlessMany(because: "BadDeviceToken")),
    Row(status: 400, reason: "BadDeviceToken", isProven: false, remedy: .tryOtherEnvironment),
    Row(
      status: 400, reason: "BadDeviceToken", isProven: false, triedOtherEnvironment: true,
      remedy: .pruneTokenUnlessMany(because: "BadDeviceToken")),
    Row(
      status: 400, reason: "BadExpirationDate", remedy: .dead(because: "400 BadExpirationDate")),
    Row(status: 400, reason: "PayloadEmpty", remedy: .dead(because: "400 PayloadEmpty")),
    Row(status: 404, reason: "BadPath", remedy: .dead(because: "404 BadPath")),
    Row(
      status: 405, reason: "MethodNotAllowed", remedy: .dead(because: "405 MethodNotAllowed")),
    Row(status: 413, reason: "PayloadTooLarge", remedy: .dead(because: "413 PayloadTooLarge")),
    Row(status: 403, reason: "ExpiredProviderToken", remedy: .renewProviderToken),
    Row(
      status: 403, reason: "InvalidProviderToken",
      remedy: .openLane(because: "403 InvalidProviderToken")),
    Row(status: 403, reason: "Forbidden", remedy: .openLane(because: "403 Forbidden")),
    Row(status: 400, reason: "MissingTopic", remedy: .openLane(because: "400 MissingTopic")),
    Row(
      status: 400, reason: "TopicDisallowed", remedy: .openLane(because: "400 TopicDisallowed")),
    Row(
      status: 429, reason: "TooManyRequests",
      remedy: .retry(notBefore: .seconds(30), because: "429 TooManyRequests")),
    Row(
      status: 429, reason: "TooManyRequests", retryAfter: .seconds(90),
      remedy: .retry(notBefore: .seconds(90), because: "429 TooManyRequests")),
    Row(
      status: 429, reason: "TooManyProviderTokenUpdates",
      remedy: .retry(notBefore: .seconds(30), because: "429 TooManyProviderTokenUpdates")),
    Row(
      status: 500, reason: "InternalServerError",
      remedy: .retry(notBefore: .seconds(30), because: "500 InternalServerError")),
    Row(
      status: 503, reason: "ServiceUnavailable",
      remedy: .retry(notBefore: .seconds(30), because: "503 ServiceUnavailable")),
    Row(
      status: 503, reason: "Shutdown", isLiveActivity: false,
      remedy: .retry(notBefore: .seconds(900), because: "503 Shutdown")),
    Row(
      status: 503, reason: "ServiceUnavailable", retryAfter: .seconds(3600),
      remedy: .retry(notBefore: .seconds(3600), because: "503 ServiceUnavailable")),
    // Unknown reasons and bodies that are no JSON: by the status, raw text kept.
    Row(status: 400, reason: "FooBar", remedy: .dead(because: "400 FooBar")),
    Row(status: 403, reason: "FooBar", remedy: .openLane(because: "403 FooBar")),
    Row(
      status: 410, reason: "FooBar",
      remedy: .pruneToken(because: "FooBar", diedAt: UnixTime(milliseconds: 1234))),
    Row(
      status: 502, reason: "<html>Bad Gateway",
      remedy: .retry(notBefore: .seconds(30), because: "502 <html>Bad Gateway")),
    Row(status: 400, reason: nil, remedy: .dead(because: "400 without a reason")),
    // Never success.
    Row(
      status: 302, reason: nil,
      remedy: .retry(notBefore: .seconds(30), because: "302 without a reason")),
    Row(
      status: 204, reason: nil,
      remedy: .retry(notBefore: .seconds(30), because: "204 without a reason")),
  ]

  @Test(arguments: table)
  func `E-3 each answer has its remedy`(row: Row) {
    let answer = PushAnswer(
      status: row.status, reason: row.reason, timestamp: UnixTime(milliseconds: 1234),
      retryAfter: row.retryAfter)
    let circumstances = PushCircumstances(
      isLiveActivity: row.isLiveActivity, isProven: row.isProven,
      triedOtherEnvironment: row.triedOtherEnvironment, isBroadcast: row.isBroadcast)
    #expect(PushOutcome.answered(answer).remedy(circumstances) == row.remedy)
  }

  @Test(arguments: [
    PushOutcome.neverProcessed(because: "refused stream"),
    .unanswered(because: "connection lost"),
  ])
  func `no answer is sent again`(outcome: PushOutcome) {
    let circumstances = PushCircumstances(
      isLiveActivity: true, isProven: true, triedOtherEnvironment: false)
    guard case .sendAgain = outcome.remedy(circumstances) else {
      Issue.record("\(outcome.remedy(circumstances))")
      return
    }
  }
}
