import Foundation
import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct WebPushJobMessageTests {
  private func job(traceparent: String? = "00-1-2-01") -> WebPushJob {
    WebPushJob(
      sessionID: SessionID("cs_1"), userID: UserID("u_mara"),
      subscriptionID: SubscriptionID("s1"), dedupeKey: "cs-invite-cs_1",
      deadline: Samples.noon + .seconds(60), causedAt: Samples.noon, traceparent: traceparent,
      payload: Data(#"{"web_push":8030}"#.utf8))
  }

  @Test func `a job comes back as it was`() throws {
    for job in [job(), job(traceparent: nil)] {
      #expect(try WebPushJob(reading: job.message) == job)
      #expect(job.message.id == job.id)
    }
  }

  @Test(arguments: [
    "x-subscription", "x-session", "x-user", "x-dedupe-key", "x-deadline", "x-caused-at",
  ])
  func `a missing header is named`(header: String) throws {
    var message = job().message
    message.headers[header] = nil
    let error = #expect(throws: UnreadableJob.self) { try WebPushJob(reading: message) }
    #expect(error?.description.contains(header) == true)
  }

  @Test func `another type, id or body is refused`() {
    let edits: [(inout Message) -> Void] = [
      { $0.type = "push.alert" }, { $0.id = "x" }, { $0.id = $0.id.uppercased() },
      { $0.body = Data("x".utf8) }, { $0.body = Data() },
    ]
    for edit in edits {
      var message = job().message
      edit(&message)
      #expect(throws: UnreadableJob.self) { try WebPushJob(reading: message) }
    }
  }
}
