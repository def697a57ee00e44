import Foundation
import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct PushJobMessageTests {
  private static func job(_ event: PushJob.Event = .update, full: Bool = true) -> PushJob {
    PushJob(
      id: "0190f3a2-0000-8000-8000-0000000000ab", event: event, sessionID: SessionID("cs_1"),
      userID: UserID("u_mara"), contextKey: event == .alert ? nil : ContextKey("c"), rev: 7,
      token: Samples.token(9), environment: full ? .sandbox : .production,
      bundleID: full ? "app.y" : nil, collapseID: full ? "k" : nil,
      dedupeKey: full || event == .resolve ? "d" : nil,
      deadline: Samples.noon + .milliseconds(1), causedAt: Samples.noon - .milliseconds(1),
      traceparent: full ? "00-a-b-01" : nil, payload: Data(#"{"aps":{"x":1}}"#.utf8))
  }

  @Test(arguments: PushJob.Event.allCases, [true, false])
  func `a job comes back as it went`(event: PushJob.Event, full: Bool) throws {
    let job = Self.job(event, full: full)
    #expect(try PushJob(reading: job.message) == job)
  }

  @Test func `the body is what APNs gets, the id is the apns-id`() {
    let message = Self.job().message
    #expect(message.body == Self.job().payload)
    #expect(message.id == Self.job().id)
    #expect(message.type == "push.update")
  }

  @Test(arguments: [
    "x-token", "x-environment", "x-session", "x-user", "x-context-key", "x-rev", "x-deadline",
    "x-caused-at",
  ])
  func `a missing header is named`(header: String) throws {
    var message = Self.job().message
    message.headers[header] = nil
    let error = try #require(throws: UnreadableJob.self) { try PushJob(reading: message) }
    #expect(error.description.hasPrefix("header \(header) is missing"))
  }

  @Test(arguments: [
    ("x-token", HeaderValue.text("xyz"), "header x-token holds something other than"),
    ("x-token", .integer(7), "header x-token is missing"),
    ("x-environment", .text("staging"), "x-environment is \"staging\", want production or sandbox"),
    ("x-rev", .text("7"), "header x-rev is missing or not an integer"),
    ("x-user", .text(String(repeating: "u", count: 2501)), "header x-user has 2501 bytes, want"),
    ("x-context-key", .text(String(repeating: "c", count: 2501)), "header x-context-key has 2501"),
    ("x-dedupe-key", .text(String(repeating: "é", count: 1251)), "header x-dedupe-key has 2502"),
    ("apns-collapse-id", .text("k\nx"), "header apns-collapse-id is not 1 to 64 visible ASCII"),
    ("apns-collapse-id", .text("é"), "header apns-collapse-id is not 1 to 64 visible ASCII"),
    ("apns-collapse-id", .text(""), "header apns-collapse-id is not 1 to 64 visible ASCII"),
    ("x-bundle", .text("app y"), "header x-bundle is not 1 to"),
  ])
  func `a wrong header is named`(header: String, value: HeaderValue, reason: String) throws {
    var message = Self.job().message
    message.headers[header] = value
    let error = try #require(throws: UnreadableJob.self) { try PushJob(reading: message) }
    #expect(error.description.hasPrefix(reason))
  }

  @Test(arguments: ["push.", "push.pause", "update", "", "Push.update"])
  func `another type is no push job`(type: String) throws {
    var message = Self.job().message
    message.type = type
    let error = try #require(throws: UnreadableJob.self) { try PushJob(reading: message) }
    #expect(error.description == "type \"\(type)\" is not a push job")
  }

  @Test(arguments: ["", "7", "0190F3A2-0000-8000-8000-0000000000AB"])
  func `B-6 an id that is no lower-case UUID is refused`(id: String) {
    var message = Self.job().message
    message.id = id
    #expect(throws: UnreadableJob.self) { try PushJob(reading: message) }
  }

  @Test(arguments: ["", "{}", #"{ "aps":{}}"#, #"{"link":"x","aps":{}}"#])
  func `a body that could not be stamped is refused`(body: String) {
    var message = Self.job().message
    message.body = Data(body.utf8)
    #expect(throws: UnreadableJob.self) { try PushJob(reading: message) }
  }
}
