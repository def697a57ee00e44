import Foundation
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct PushJobTests {
  private func job(_ event: PushJob.Event, deadline: UnixTime, bundle: String? = nil) -> PushJob {
    PushJob(
      id: "0190f3a2-0000-8000-8000-000000000000", event: event, sessionID: SessionID("cs_1"),
      userID: UserID("u_mara"), contextKey: ContextKey("c"), rev: 1, token: Samples.token(1),
      environment: .production, bundleID: bundle, collapseID: nil, deadline: deadline,
      causedAt: Samples.noon, traceparent: nil, payload: Data())
  }

  @Test(arguments: [
    (PushJob.Event.start, 86_400, 600), (.start, 599, 599), (.start, 601, 600),
    (.update, 7200, 7200), (.alert, 7200, 7200),
    (.end, 86_400, 8 * 3600), (.end, 60, 60), (.resolve, 3600, 3600),
  ])
  func `APNs keeps a push as long as its event is worth it`(
    event: PushJob.Event, deadlineIn: Int, keptFor: Int64
  ) {
    let job = job(event, deadline: Samples.noon + .seconds(deadlineIn))
    #expect(job.expiration(now: Samples.noon) == Samples.noon.seconds + keptFor)
  }

  @Test func `a Live Activity's topic is the bundle with Apple's suffix`() {
    let deadline = Samples.noon + .seconds(1)
    #expect(
      job(.update, deadline: deadline).topic(bundle: "app.x") == "app.x.push-type.liveactivity")
    #expect(job(.alert, deadline: deadline).topic(bundle: "app.x") == "app.x")
    #expect(job(.alert, deadline: deadline, bundle: "app.y").topic(bundle: "app.x") == "app.y")
    #expect(job(.end, deadline: deadline).pushType == "liveactivity")
    #expect(job(.alert, deadline: deadline).pushType == "alert")
    #expect(job(.resolve, deadline: deadline).topic(bundle: "app.x") == "app.x")
    #expect(job(.resolve, deadline: deadline).pushType == "background")
  }

  @Test func `a collapse id of 64 bytes stays, of 65 is hashed to 64`() {
    let fits = String(repeating: "a", count: 64)
    #expect(CollapseID.of(fits) == fits)
    let long = CollapseID.of(fits + "x")
    #expect(long.utf8.count == 64)
    #expect(long != CollapseID.of(fits + "y"))
    #expect(long == CollapseID.of(fits + "x"))
  }

  @Test(arguments: ["", "a\nb", "a\r", "a b", "\u{0}", "\u{7F}", "ä"])
  func `what an HTTP header cannot hold is hashed, however short`(key: String) {
    #expect(!CollapseID.isOne(key))
    #expect(CollapseID.of(key).utf8.count == 64)
    #expect(CollapseID.isOne(CollapseID.of(key)))
  }
}
