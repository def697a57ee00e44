import Foundation
import Pushes
import Testing
import Vocabulary

@Suite struct WebPushPayloadTests {
  private func payload(title: String = "Plan mit Dennis das Essen", body: String = "Tippe")
    -> WebPushPayload
  {
    WebPushPayload(
      title: title, body: body, link: "/cook-suggest/cs_abc", dedupeKey: "cs-invite-cs_abc",
      sessionID: SessionID("cs_abc"), language: "de", icon: "✨", badge: 3)
  }

  private func origin() throws -> WebOrigin { try WebOrigin("https://app.example") }

  @Test func `it is Declarative Web Push, and has all an older worker needs`() throws {
    let json = try JSONValue(parsing: payload().encoded(origin: origin()))
    #expect(
      json == [
        "web_push": 8030, "mutable": true, "app_badge": 3,
        "notification": [
          "title": "Plan mit Dennis das Essen", "body": "Tippe",
          "navigate": "https://app.example/cook-suggest/cs_abc", "lang": "de", "dir": "ltr",
          "tag": "cs-invite-cs_abc", "icon": "https://app.example/icons/notification.png",
          "silent": false,
          "data": [
            "link": "/cook-suggest/cs_abc", "dedupe_key": "cs-invite-cs_abc",
            "session_id": "cs_abc", "icon": "✨",
          ],
        ],
      ])
  }

  @Test(arguments: [
    String(repeating: "ü", count: 3000), String(repeating: "\"", count: 3000),
    String(repeating: "👨‍👩‍👧", count: 300),
  ])
  func `text that does not fit is shortened`(text: String) throws {
    let data = try payload(title: text, body: text).encoded(origin: origin())
    #expect(data.count <= WebPushPayload.bytesMax)
    guard case .string(let title)? = try JSONValue(parsing: data)["notification"]?["title"] else {
      Issue.record("no title")
      return
    }
    #expect(title.hasSuffix("…"))
    #expect(text.hasPrefix(title.dropLast()))
  }

  @Test func `the short form is still Declarative Web Push, and much shorter`() throws {
    let long = try payload(title: String(repeating: "a", count: 900), body: "b")
      .encoded(origin: origin())
    let short = try #require(WebPushPayload.shortForm(of: long))
    #expect(short.count < 500)
    let json = try JSONValue(parsing: short)
    #expect(json["web_push"] == 8030)
    #expect(json["notification"]?["navigate"] == "https://app.example/cook-suggest/cs_abc")
    #expect(json["notification"]?["tag"] == "cs-invite-cs_abc")
    #expect(json["notification"]?["body"] == nil)
    #expect(WebPushPayload.shortForm(of: Data("{}".utf8)) == nil)
    #expect(WebPushPayload.shortForm(of: Data("x".utf8)) == nil)
  }

  @Test func `F-2 the topic is that of the research note, and always 32 characters`() {
    #expect(WebPushTopic.of("cs-invite-cs_abc") == "LqpQ4h8bKmDeuck1KgltDAtWYwIlV0lA")
    for key in ["", "x", String(repeating: "long", count: 500)] {
      #expect(WebPushTopic.of(key).utf8.count == 32)
    }
  }

  @Test(arguments: ["https://app.example", "https://app.example:8443/", "http://localhost:8181"])
  func `an origin makes links absolute`(text: String) throws {
    let trimmed = text.hasSuffix("/") ? String(text.dropLast()) : text
    #expect(try WebOrigin(text).url(of: "/x") == trimmed + "/x")
  }

  @Test(arguments: [
    "", "app.example", "http://app.example", "https://app.example/path", "https://app.example?x",
    "https://app.example#x", "https://u@app.example", "https://",
  ])
  func `what is no origin is refused`(text: String) {
    #expect(throws: WebOriginError.self) { try WebOrigin(text) }
  }

  @Test func `a job's id is made of dedupe key and subscription`() {
    func job(_ key: String, _ subscription: String) -> WebPushJob {
      WebPushJob(
        sessionID: SessionID("cs_abc"), userID: UserID("u"),
        subscriptionID: SubscriptionID(subscription), dedupeKey: key,
        deadline: UnixTime(seconds: 2), causedAt: UnixTime(seconds: 1), traceparent: nil,
        payload: Data())
    }
    #expect(job("a", "s").id == job("a", "s").id)
    #expect(Set([job("a", "s").id, job("b", "s").id, job("a", "t").id]).count == 3)
  }
}
